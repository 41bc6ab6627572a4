import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { expect, test } from 'vitest'
import { connect, message } from '#test/mcp/scene.ts'
import type { CorpusRepository } from '#test/support/corpus.ts'
import type { Opened } from './opened.ts'

const run = promisify(execFile)
const CLI = join(import.meta.dirname, '..', '..', 'node_modules', 'skills', 'bin', 'cli.mjs')
/** How many skills of a repository programs install, of all that it lists: less where a skill is described only, or cannot be installed. */
const INSTALLABLE: Readonly<Record<string, readonly [installable: number, listed: number]>> = {
  'obra/superpowers': [14, 14],
  'microsoft/agent-skills': [165, 165],
  'wshobson/agents': [180, 181],
  'openclaw/skills': [133, 344],
}
const INSTALLED = ['obra/superpowers', 'getsentry/skills', 'expo/skills']

/** Foreign clients read the skills of each repository, and install those of some. */
export function testClients(repository: Pick<CorpusRepository, 'owner' | 'name'>, opened: () => Opened): void {
  const name = `${repository.owner}/${repository.name}`

  test('every file of every skill has its digest', async () => {
    const { service, origin } = opened()
    const client = await connect(`${origin}/mcp/local/${name}`)
    const skills = new SkillsClient(client)
    const listed = (await skills.list()).skills
    for (const one of listed) {
      for (const { uri } of one.resources as { uri: string }[]) {
        const file = await skills.read(one, uri)
        expect(file.verified).toBe(true)
      }
    }
    await client.close()
    const { index } = await service.app.ask('mounts', `/local/${name}`)
    const count = index.status === 'ready' ? index.counts.skills : 0
    if (INSTALLABLE[name]) expect([listed.length, count]).toEqual(INSTALLABLE[name])
    expect(listed.length).toBeLessThanOrEqual(count)
  })

  test('a tool returns for every skill, listed or not, the body of the REST interface', async () => {
    const { service } = opened()
    const entries = await readdir(join(service.root, name), { recursive: true })
    const paths = entries.filter(entry => /(^|\/)SKILL\.md$/.test(entry) && !entry.startsWith('.git/')).sort()
    for (const path of paths) {
      const asked = message('tools/call', { name: 'load_skill', arguments: { path } })
      const tool = await service.app.app.inject({ method: 'POST', url: `/mcp/local/${name}`, ...asked })
      const rest = await service.app.app.inject(`/api/v1/skills/local/${name}?${new URLSearchParams({ path })}`)
      const { isError, structuredContent } = tool.json().result
      expect(isError ?? false, path).toBe(rest.statusCode !== 200)
      if (isError) expect(structuredContent.error.code, path).toBe(rest.json().error.code)
      else expect(structuredContent, path).toEqual(rest.json())
    }
  })

  if (!INSTALLED.includes(name)) return
  test('the client of npm installs the files of git', async () => {
    expect(await compareInstalled(name, opened())).toBeGreaterThan(30)
  })
}

/** @returns how many installed files were compared */
async function compareInstalled(name: string, { service, origin }: Opened): Promise<number> {
  const home = await mkdtemp(join(tmpdir(), 'mountglass-skills-'))
  const env = { PATH: process.env.PATH ?? '', HOME: home, XDG_STATE_HOME: join(home, 'state'), DISABLE_TELEMETRY: '1', CI: '1' }
  const args = [CLI, 'add', `${origin}/local/${name}`, '--agent', 'claude-code', '--copy', '-y']
  await run(process.execPath, args, { cwd: home, env })

  const asked = await fetch(`${origin}/local/${name}/.well-known/agent-skills/index.json`)
  const index = (await asked.json()) as { skills: { name: string }[] }
  const installed = join(home, '.claude', 'skills')
  expect((await readdir(installed)).sort()).toEqual(index.skills.map(one => one.name).sort())
  const client = await connect(`${origin}/mcp/local/${name}`)
  let compared = 0
  for (const { uri } of (await new SkillsClient(client).list()).skills) {
    const directory = decodeURIComponent(uri.slice(`skill://local/${name}/`.length, -'/SKILL.md'.length))
    const source = join(service.root, name, directory)
    const target = join(installed, directory.split('/').at(-1) as string)
    for (const entry of await readdir(source, { recursive: true })) {
      const info = await stat(join(source, entry))
      if (!info.isFile()) continue
      const [there, here] = [await readFile(join(target, entry)), await readFile(join(source, entry))]
      expect(Buffer.compare(there, here), `${directory}/${entry}`).toBe(0)
      compared++
    }
  }
  await client.close()
  return compared
}
