import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildImage, type Image } from '#test/support/image.ts'
import { until } from '#test/support/until.ts'
import { freePort } from '../../scripts/servers/free-port.mjs'
import { hasImageTools } from '../../scripts/setup/system-packages.mjs'

const HANDBOOK = '/local/mountglass/handbook'

describe.runIf(hasImageTools())('the image', () => {
  let place: string
  let image: Image
  let service: ChildProcess
  let printed = ''
  let port: string
  beforeAll(async () => {
    // On a disk: its layers take more than the temporary files of the tests, which are in memory.
    place = await mkdtemp('/var/tmp/mountglass-image-')
    image = await buildImage(place)
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
    await rm(place, { recursive: true, force: true })
  })

  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)

  /** Runs a program in the image to its end. */
  async function ended(command: readonly string[]): Promise<{ code: number; said: string }> {
    const child = image.run(command, { PORT: port })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (said += chunk))
    const [code] = await once(child, 'close')
    return { code, said }
  }

  test('runs as its own user, without capabilities, on a read-only root', async () => {
    const status = await readFile(`/proc/${service.pid}/status`, 'utf8')
    expect(status).toMatch(/^Uid:\s+1000\s+1000\s+1000\s+1000$/m)
    expect(status).toMatch(/^CapEff:\s+0+$/m)
    expect(await ended(['touch', join(image.config.WorkingDir, 'written')])).toMatchObject({
      said: expect.stringContaining('Read-only'),
    })
  })

  test('passes its health check, indexes the handbook, and serves it with pictures', async () => {
    expect(await ended(image.config.Healthcheck.Test.slice(1))).toMatchObject({ code: 0 })
    expect((await ask('/readyz')).status).toBe(200)
    await until(
      async () =>
        ((await (await ask(`/api/v1/mounts${HANDBOOK}`)).json()) as { index: { status: string } }).index.status === 'ready',
    )
    const typeOf = async (path: string) => {
      const answer = await ask(path)
      await answer.arrayBuffer()
      return [answer.status, answer.headers.get('content-type')]
    }
    expect(await typeOf(HANDBOOK)).toEqual([200, 'text/html; charset=utf-8'])
    expect(await typeOf(`/badge${HANDBOOK}`)).toEqual([200, 'image/svg+xml; charset=utf-8'])
    expect(await typeOf(`/social${HANDBOOK}`)).toEqual([200, 'image/png'])
    expect(await typeOf(`/picture${HANDBOOK}`)).toEqual([200, 'image/png'])
  })

  test('has no other Node', async () => {
    const { said } = await ended(['sh', '-c', 'ls node_modules | grep -E "^node-(linux|win)-" || echo none'])
    expect(said).toBe('none\n')
  })
})
