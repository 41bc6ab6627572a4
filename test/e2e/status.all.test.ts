import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, rm, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StatusReport } from '#api/reading/status.ts'
import { runCommand, startCommand } from '#test/support/command.ts'
import { createRepositories, type TestRepositories, type TestRepository } from '#test/support/repository.ts'
import { type Service, startService } from '#test/support/service.ts'
import { until } from '#test/support/until.ts'

let folder: string
let repositories: TestRepositories
let service: Service | null
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mountglass-status-'))
  repositories = await createRepositories()
  service = null
})
afterEach(async () => {
  await service?.stop()
  await repositories.remove()
  await rm(folder, { recursive: true, force: true })
})

const settings = () => ({
  MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
  MOUNTGLASS_STORE: `disk:${join(folder, 'store')}`,
  MOUNTGLASS_GITHUB: 'off',
})

const SKILL = (name: string, more = '') => `---\nname: ${name}\ndescription: Does it.\n${more}---\nBody. [x](gone.md)\n`

async function report(): Promise<StatusReport> {
  const { status, stdout, stderr } = await runCommand(['status', '--json'], { env: settings() })
  expect([status, stderr]).toEqual([0, ''])
  return StatusReport.parse(JSON.parse(stdout))
}

async function createAll(): Promise<void> {
  const tools = await repositories.create('acme', 'tools')
  await tools.commit({
    'a/SKILL.md': SKILL('a', 'license: MIT\n'),
    'b/SKILL.md': SKILL('b', 'license: Proprietary\n'),
  })
  await (await repositories.create('acme', 'later')).commit({ 'a.md': '# A\n' })
  await repositories.create('acme', 'nothing')
  const secret = await repositories.create('acme', 'very-secret')
  await secret.commit({ 'a.md': '# A\n' })
  await writeFile(join(secret.gitDir, 'mountglass-private'), '')
  const broken = await repositories.create('acme', 'broken')
  await broken.commit({ 'a.md': '# A\n' })
  await removeObjects(join(broken.gitDir, 'objects'))
}

async function removeObjects(objects: string): Promise<void> {
  for (const entry of await readdir(objects, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await unlink(join(entry.parentPath, entry.name))
}

test('the command names each repository with its state and cause, and starts no job', async () => {
  await createAll()
  service = await startService(settings())
  await service.get('browse', '/local/acme/tools')
  await until(async () => (await report()).repositories.some(({ state }) => state === 'ready'))
  for (let turn = 0; turn < 2; turn++) {
    const { format, repositories: rows, truncated } = await report()
    expect([format, truncated]).toEqual([1, false])
    const byName = Object.fromEntries(
      rows.map(({ repository, commit: _, ...row }) => [repository.replace('local/acme/', ''), row]),
    )
    const unknown = { skills: null, withheld: null, findings: null }
    expect(byName.tools).toMatchObject({ state: 'ready', skills: 2, withheld: 1 })
    expect(byName.tools?.findings).toBeGreaterThan(0)
    expect(byName.later).toEqual({ state: 'not_indexed', ...unknown })
    expect(byName.nothing).toEqual({ state: 'empty', ...unknown })
    expect(byName.broken).toEqual({ state: 'damaged', cause: 'mount.unavailable', ...unknown })
    expect(byName['very-secret']).toEqual({ state: 'not_indexed', ...unknown })
  }
})

test('of a damaged repository the command names the object from which something is missing', async () => {
  await createAll()
  service = await startService(settings())
  const { stdout } = await runCommand(['status'], { env: settings() })
  expect(stdout).toMatch(
    /^local\/acme\/broken +damaged +the object [0-9a-f]{40}, which a ref names, its commit or its tree is missing or damaged \[/m,
  )
})

test('a commit that is there without its tree is damaged, too', async () => {
  const tools = await repositories.create('acme', 'tools')
  await tools.commit({ 'a/SKILL.md': SKILL('a') })
  const { stdout: tree } = spawnSync('git', ['--git-dir', tools.gitDir, 'rev-parse', 'main^{tree}'], { encoding: 'utf8' })
  await rm(join(tools.gitDir, 'objects', tree.slice(0, 2), tree.slice(2).trim()))
  service = await startService(settings())
  expect(await service.getError('browse', '/local/acme/tools')).toEqual({ status: 503, code: 'mount.unavailable' })
  expect((await report()).repositories[0]).toMatchObject({ state: 'damaged', cause: 'mount.unavailable' })
  // The object that is named is there: it would be wrong to call it missing.
  expect((await runCommand(['status'], { env: settings() })).stdout).toContain('its commit or its tree is missing')
})

/** Damages a repository of one commit. */
type Damage = (repository: TestRepository, commit: string) => Promise<void>
const emptied =
  (of: string): Damage =>
  async (repository, commit) => {
    const id = await repository.git('rev-parse', `${commit}${of}`)
    await repository.dropObject(id)
    await writeFile(join(repository.gitDir, 'objects', id.slice(0, 2), id.slice(2)), '')
  }
const NOTHING = '1'.repeat(40)

test.each<[string, Damage]>([
  ['a commit that is an empty file', emptied('')],
  ['a tree that is an empty file', emptied('^{tree}')],
  [
    'a pack that was cut short',
    async ({ gitDir, git }) => {
      await git('repack', '-a', '-d', '-q')
      const packs = join(gitDir, 'objects', 'pack')
      const [pack = ''] = (await readdir(packs)).filter(name => name.endsWith('.pack'))
      await chmod(join(packs, pack), 0o600)
      await truncate(join(packs, pack), 60)
    },
  ],
  ['a branch that names nothing', ({ gitDir }) => writeFile(join(gitDir, 'refs', 'heads', 'main'), `${NOTHING}\n`)],
])('%s is damage: no job tries it, and the command and the pages say so', async (_, damage) => {
  const tools = await repositories.create('acme', 'tools')
  await damage(tools, await tools.commit({ 'package.json': '{"license":"MIT"}', 'a/SKILL.md': SKILL('a') }))
  service = await startService(settings())
  expect(await service.getError('browse', '/local/acme/tools')).toEqual({ status: 503, code: 'mount.unavailable' })
  const page = await fetch(`${service.baseUrl}/local/acme/tools`, { headers: { accept: 'text/html' } })
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('data-code="mount.unavailable"')])
  expect((await report()).repositories[0]).toMatchObject({ state: 'damaged', cause: 'mount.unavailable' })
  expect((await runCommand(['status'], { env: settings() })).stdout).toMatch(
    / damaged .*the object [0-9a-f]{40}, which a ref names/,
  )
})

test('a folder that is missing fails the index, and nothing of a local repository is called unfetched', async () => {
  const tools = await repositories.create('acme', 'tools')
  const commit = await tools.commit({ 'a/SKILL.md': SKILL('a'), 'b/c.md': '# C\n' })
  await tools.dropObject(await tools.oidAt(commit, 'b'))
  service = await startService(settings())
  await service.get('browse', '/local/acme/tools')
  await until(async () => (await report()).repositories[0]?.state === 'failed')
  const { stdout } = await runCommand(['status'], { env: settings() })
  expect(stdout).toMatch(/ failed .*it could not be read, and may be damaged;.*\[index\.fetch_failed\]/)
})

test('a skill whose file is missing is a finding, and the others are there', async () => {
  const tools = await repositories.create('acme', 'tools')
  const commit = await tools.commit({ 'package.json': '{"license":"MIT"}', 'a/SKILL.md': SKILL('a'), 'b/SKILL.md': SKILL('b') })
  await tools.dropObject(await tools.oidAt(commit, 'a/SKILL.md'))
  service = await startService(settings())
  await service.get('browse', '/local/acme/tools')
  await until(async () => (await report()).repositories[0]?.state === 'ready')
  expect((await report()).repositories[0]).toMatchObject({ state: 'ready', skills: 1 })
  const found = await service.get('findings', '/local/acme/tools')
  if (found.status !== 'ready') throw new Error(found.status)
  expect(found.items.map(({ path }) => path)).toContain('a/SKILL.md')
})

test('a repository with a newer commit is stale, with the numbers of the commit that is indexed', async () => {
  const tools = await repositories.create('acme', 'tools')
  const before = await tools.commit({ 'a/SKILL.md': SKILL('a', 'license: MIT\n') })
  service = await startService({ ...settings(), MOUNTGLASS_METRICS_PORT: '0' })
  await service.get('browse', '/local/acme/tools')
  await until(async () => (await report()).repositories[0]?.state === 'ready')
  const [ready] = (await report()).repositories
  const now = await tools.commit({ 'b/SKILL.md': SKILL('b') })
  for (let turn = 0; turn < 2; turn++) {
    const { repositories: rows } = await report()
    expect(rows).toEqual([{ ...ready, commit: now, state: 'stale', cause: 'index.older_commit', indexed: before }])
  }
  const said = `${before.slice(0, 7)} indexed, ${now.slice(0, 7)} not yet`
  const { stdout } = await runCommand(['status'], { env: settings() })
  expect(stdout).toContain(`${said} [index.older_commit], 1 skill`)
  const [, port] = await seen(service, /"metricsPort":(\d+)/)
  expect(await (await fetch(`http://127.0.0.1:${port}/status`)).text()).toContain(said)
})

test('without a store there is nothing to tell, and the command creates none', async () => {
  const store = join(folder, 'empty')
  await mkdir(store)
  for (const named of ['', `disk:${join(folder, 'absent')}`, `disk:${store}`]) {
    const env = { ...settings(), MOUNTGLASS_STORE: named, XDG_DATA_HOME: join(folder, 'data') }
    const { status, stdout, stderr } = startCommand(['status', '--json'], { env, cwd: folder })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^MOUNTGLASS_STORE: there is no store at \S+\n$/)
  }
  expect(await readdir(folder, { recursive: true })).toEqual(['empty'])
})

test('the findings are those of the interface', async () => {
  await createAll()
  service = await startService(settings())
  const answer = await service.get('findings', '/local/acme/tools', { limit: '1' })
  if (answer.status !== 'ready') throw new Error(answer.status)
  const { look, breaks, style } = answer.counts
  const tools = (await report()).repositories.find(({ repository }) => repository === 'local/acme/tools')
  expect(tools?.findings).toBe(look + breaks + style)
})

test('the page is on the metrics port alone, and names no private repository', async () => {
  await createAll()
  service = await startService({ ...settings(), MOUNTGLASS_METRICS_PORT: '0' })
  const [, port] = await seen(service, /"metricsPort":(\d+)/)
  const answer = await fetch(`http://127.0.0.1:${port}/status`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const html = await answer.text()
  for (const words of ['local/acme/tools', 'local/acme/broken', 'damaged', 'empty', 'not indexed', '5 repositories'])
    expect(html).toContain(words)
  const links = [...html.matchAll(/<a href="([^"]+)">([^<]+)</g)].map(([, href = '', name = '']) => [href, name])
  expect(links[0]).toEqual([`${service.baseUrl}/local/acme/broken`, 'local/acme/broken'])
  // The policy of the port permits this one style.
  const style = /<style>([^<]+)<\/style>/.exec(html)?.[1] ?? ''
  const policy = answer.headers.get('content-security-policy')
  expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`)
  expect(html).not.toContain('very-secret')
  expect(html).toContain('Private and not named here: 1 repository')
  await expectNothingPublic(service)
})

test('without a metrics port there is no page', async () => {
  await createAll()
  service = await startService(settings())
  await expectNothingPublic(service)
})

/** Whatever the public port answers, it is the answer to a path that nobody knows. */
async function expectNothingPublic({ baseUrl }: Service): Promise<void> {
  for (const path of ['/status', '/status.json', '/api/v1/status', '/status/', '/Status']) {
    const answer = await fetch(`${baseUrl}${path}`)
    expect([path, answer.status]).toEqual([path, 404])
    const text = await answer.text()
    expect(text).not.toMatch(/very-secret|acme\/broken|not indexed/)
  }
}

async function seen({ output }: Service, pattern: RegExp): Promise<RegExpExecArray> {
  await until(() => pattern.test(output()))
  return pattern.exec(output()) as RegExpExecArray
}
