import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import { ensureBuilt } from '#test/site/support/built-site.ts'
import { buildImage, type Image } from '#test/support/image.ts'
import { until } from '#test/support/until.ts'
import { pack } from '../../scripts/pack.mjs'
import { freePort } from '../../scripts/servers/free-port.mjs'
import { hasImageTools } from '../../scripts/setup/system-packages.mjs'

const HANDBOOK = '/local/mountglass/handbook'
const SKILL = 'writing/write-a-skill/SKILL.md'
const MEGABYTE = 1_000_000

/** What an address is asked, beside its page, and what each answer is. */
const API: Readonly<Record<string, string>> = {
  mounts: '',
  browse: '?path=writing',
  find: '?query=license',
  skills: `?path=${SKILL}`,
  files: '?path=docs/limits.md',
  findings: '?limit=1',
  changes: '?from=v1',
  history: `?path=${SKILL}`,
  refs: '',
}
const HTML = 'text/html; charset=utf-8'
const TEXT = 'text/markdown; charset=utf-8'
const ROUTES: readonly (readonly [target: string, type: string])[] = [
  ...Object.entries(API).map(
    ([name, query]) => [`/api/v1/${name}${HANDBOOK}${query}`, 'application/json; charset=utf-8'] as const,
  ),
  ...['featured', 'showcase', 'openapi.json'].map(name => [`/api/v1/${name}`, 'application/json; charset=utf-8'] as const),
  ...[
    '',
    '?view=browse&path=writing',
    `?view=skill&path=${SKILL}`,
    '?view=file&path=docs/limits.md',
    '?view=find&query=license',
  ].map(query => [`${HANDBOOK}${query}`, HTML] as const),
  ...['?view=refs', '?view=changes&from=v1', '?view=findings'].map(query => [`${HANDBOOK}${query}`, HTML] as const),
  ...['/', '/docs', '/docs/ci', '/docs/rest', '/docs/settings?lang=de'].map(path => [path, HTML] as const),
  [`${HANDBOOK}?format=markdown`, TEXT],
  ['/docs/ci.md', TEXT],
  [`/badge${HANDBOOK}`, 'image/svg+xml; charset=utf-8'],
  ...[`/social${HANDBOOK}`, '/social/docs', `/picture${HANDBOOK}`].map(path => [path, 'image/png'] as const),
]

describe.runIf(hasImageTools())('the image', () => {
  let image: Image
  let service: ChildProcess
  let printed = ''
  let port: string
  beforeAll(async () => {
    await ensureBuilt()
    image = await buildImage(pack)
    port = String(await freePort())
    const { Entrypoint, Cmd } = image.config
    service = image.run([...Entrypoint, ...Cmd], { HOST: '127.0.0.1', PORT: port, MOUNTGLASS_GITHUB: 'off' })
    for (const stream of [service.stdout, service.stderr]) stream?.on('data', chunk => (printed += chunk))
    await until(() => {
      if (service.exitCode !== null) throw new Error(`the service ended:\n${printed}`)
      return printed.includes('Mountglass answers at')
    })
  })
  afterAll(async () => {
    if (service?.exitCode === null) {
      const exited = once(service, 'exit')
      service.kill('SIGTERM')
      await exited
    }
    await image?.remove()
  })

  async function ask(path: string) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
  }

  /** Runs a program in the image to its end. */
  async function ended(command: readonly string[]): Promise<{ code: number; said: string }> {
    const child = image.run(command, { PORT: port })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (said += chunk))
    const [code] = await once(child, 'close')
    return { code, said }
  }

  test('runs as its own user, without capabilities, on a read-only root, with its data in the volume', async () => {
    const status = await readFile(`/proc/${service.pid}/status`, 'utf8')
    expect(status).toMatch(/^Uid:\s+10001\s+10001\s+10001\s+10001$/m)
    expect(status).toMatch(/^CapEff:\s+0+$/m)
    expect(await ended(['touch', join(image.config.WorkingDir, 'written')])).toMatchObject({
      said: expect.stringContaining('Read-only'),
    })
    expect(printed).toContain(`Mountglass answers at http://127.0.0.1:${port}/; its data is in /data\n`)
  })

  test('passes its health check, and every route of an address answers, pictures among them', async () => {
    expect(await ended(image.config.Healthcheck.Test.slice(1))).toMatchObject({ code: 0 })
    expect((await ask('/readyz')).status).toBe(200)
    await until(async () => JSON.parse((await ask(`/api/v1/mounts${HANDBOOK}`)).text).index.status === 'ready')
    await until(async () => JSON.parse((await ask(`/api/v1/mounts${HANDBOOK}@v1`)).text).index.status === 'ready')
    const wrong: unknown[] = []
    for (const [target, type] of ROUTES) {
      const answer = await ask(target)
      if (answer.status !== 200 || answer.type !== type) wrong.push({ target, ...answer })
    }
    expect(wrong).toEqual([])
    const ofAddresses = Object.values(ENDPOINTS).flatMap(({ method, path, subject }) =>
      method === 'GET' && subject === 'address' ? [path.split('/')[1]] : [],
    )
    expect(Object.keys(API).sort()).toEqual(ofAddresses.sort())
  })

  test('has the other commands beside the service', async () => {
    expect(await ended(['mountglass', 'check', join('node_modules', 'mountglass', 'examples', 'handbook')])).toMatchObject({
      code: 0,
    })
    expect(await ended(['mountglass', 'sweep'])).toMatchObject({ code: 0 })
  })

  test('has no npm, no compiler and no documents but licenses, and at most 380 MB', async () => {
    const programs = ['npm', 'npx', 'corepack', 'cc', 'gcc', 'make', 'python3']
    const { said } = await ended([
      'sh',
      '-c',
      `${programs.map(name => `command -v ${name}`).join(' ; ')} ; ls /usr/share/man /usr/share/locale`,
    ])
    expect(said).not.toMatch(/^\//m)
    expect((await ended(['find', '/usr/share/doc', '-type', 'f', '!', '-name', 'copyright'])).said).toBe('')
    expect(await sizeOf(image.root)).toBeLessThan(380 * MEGABYTE)
  })
})

/** The sum of its files. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => lstat(join(parentPath, name)))
  return (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0)
}
