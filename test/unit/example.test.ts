import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { GitHost } from '#core/ports/git-host.ts'
import { parseInfraSettings } from '#infra/infra-settings.ts'
import { prepareExampleRepositories } from '#infra/local/example.ts'
import { openInfra } from '#infra/open.ts'
import { answered } from '#test/support/answered.ts'
import { createRepositories } from '#test/support/repository.ts'

const SOURCE = resolve('examples/handbook')
let scratch: string
let target: string

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'mountglass-example-'))
  target = join(scratch, 'repositories')
  await prepareExampleRepositories(SOURCE, target)
})

afterAll(() => rm(scratch, { recursive: true, force: true }))

function git(root: string, ...args: string[]): string {
  return execFileSync('git', [`--git-dir=${join(root, 'mountglass/handbook.git')}`, ...args], { encoding: 'utf8' }).trim()
}

/** Runs the preparation in a process of its own, below a shell that sets the umask. */
function prepareIn(folder: string, umask: string, environment: Record<string, string>, source = SOURCE): void {
  const module = resolve('infra/local/example.ts')
  const script = `import { prepareExampleRepositories } from ${JSON.stringify(module)}
    await prepareExampleRepositories(${JSON.stringify(source)}, ${JSON.stringify(folder)})`
  execFileSync('sh', ['-c', `umask ${umask} && exec "$0" --input-type=module --eval "$1"`, process.execPath, script], {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

test('the handbook is a bare repository with a branch main, a branch with a slash and an annotated tag on one commit', () => {
  expect(git(target, 'rev-parse', '--is-bare-repository')).toBe('true')
  expect(git(target, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main')
  expect(git(target, 'cat-file', '-t', 'v1')).toBe('tag')
  const refs = git(target, 'for-each-ref', '--format=%(refname)').split('\n')
  expect(refs).toEqual(['refs/heads/main', 'refs/heads/releases/v1', 'refs/tags/v1'])
  const commits = ['main', 'releases/v1', 'v1^{commit}'].map(ref => git(target, 'rev-parse', ref))
  expect(new Set(commits).size).toBe(1)
  expect(() => git(target, 'fsck', '--strict')).not.toThrow()
})

test('the commit is the same under any umask, time zone, language and git configuration', async () => {
  const home = join(scratch, 'home')
  await cp(resolve('examples'), home, { recursive: true })
  await writeFile(
    join(home, '.gitconfig'),
    [
      '[user]\n name = Somebody\n email = somebody@example.invalid',
      '[core]\n autocrlf = true\n precomposeunicode = true\n fileMode = false',
      '[init]\n defaultBranch = trunk\n defaultObjectFormat = sha256\n templateDir = /nonexistent',
      '[commit]\n gpgSign = true',
      '[tag]\n gpgSign = true',
      '[i18n]\n commitEncoding = ISO-8859-15',
    ].join('\n'),
  )
  const plain = join(scratch, 'plain')
  const odd = join(scratch, 'odd')
  prepareIn(plain, '000', { HOME: '/nonexistent', TZ: 'UTC', LANG: 'C' })
  prepareIn(odd, '077', {
    HOME: home,
    TZ: 'Asia/Kathmandu',
    LANG: 'tr_TR.UTF-8',
    LC_ALL: 'tr_TR.UTF-8',
    GIT_AUTHOR_NAME: 'Somebody',
    GIT_COMMITTER_DATE: '1999-01-01T00:00:00Z',
    GIT_DIR: '/nonexistent',
    GIT_DEFAULT_HASH: 'sha256',
  })
  const refs = [plain, odd, target].map(root => git(root, 'for-each-ref', '--format=%(refname) %(objectname)'))
  expect(refs[1]).toBe(refs[0])
  expect(refs[2]).toBe(refs[0])
})

test('the repository holds the bytes of the sources, programs as executable', async () => {
  for (const path of await contentPaths()) {
    const stored = execFileSync('git', [
      `--git-dir=${join(target, 'mountglass/handbook.git')}`,
      'cat-file',
      'blob',
      `main:${path}`,
    ])
    expect(stored.equals(await readFile(join(SOURCE, path))), path).toBe(true)
  }
  const modes = git(target, 'ls-tree', '-r', '--format=%(objectmode) %(path)', 'main').split('\n')
  expect(modes).toHaveLength((await contentPaths()).length)
  expect(modes.filter(line => line.startsWith('100755')).map(line => line.slice(7))).toEqual([
    'reading/read-by-rest/scripts/read-skill.mjs',
    'reviewing/find-hidden-text/scripts/hidden-text.mjs',
  ])
})

test('a second preparation leaves the repository unchanged', async () => {
  const repository = join(target, 'mountglass/handbook.git')
  const before = await stat(repository)
  expect(await prepareExampleRepositories(SOURCE, target)).toBe(target)
  const after = await stat(repository)
  expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs])
})

test('changed sources make another commit, and nothing is left behind', async () => {
  const source = join(scratch, 'changed')
  const root = join(scratch, 'changing')
  await cp(SOURCE, source, { recursive: true })
  await prepareExampleRepositories(source, root)
  const first = git(root, 'rev-parse', 'main')
  await writeFile(join(source, 'docs/limits.md'), '# Other limits\n')
  await writeFile(join(source, '.DS_Store'), 'left out')
  await prepareExampleRepositories(source, root)
  expect(git(root, 'rev-parse', 'main')).not.toBe(first)
  expect(git(root, 'cat-file', 'blob', 'main:docs/limits.md')).toBe('# Other limits')
  expect(git(root, 'ls-tree', '-r', '--name-only', 'main')).not.toContain('.DS_Store')
  expect(await readdir(join(root, 'mountglass'))).toEqual(['handbook.git'])
})

test('processes that start at once all succeed and leave one whole repository', async () => {
  const root = join(scratch, 'race')
  await Promise.all(Array.from({ length: 8 }, () => prepareExampleRepositories(SOURCE, root)))
  expect(git(root, 'rev-parse', 'main')).toBe(git(target, 'rev-parse', 'main'))
  expect(await readdir(join(root, 'mountglass'))).toEqual(['handbook.git'])

  const changed = join(scratch, 'race-changed')
  await cp(SOURCE, changed, { recursive: true })
  await writeFile(join(changed, 'extra.md'), '# One page more\n')
  await Promise.all(Array.from({ length: 8 }, () => prepareExampleRepositories(changed, root)))
  expect(git(root, 'cat-file', 'blob', 'main:extra.md')).toBe('# One page more')
  expect(await readdir(join(root, 'mountglass'))).toEqual(['handbook.git'])
})

test('files of a killed process are removed after an hour, those of a living one are not', async () => {
  const root = join(scratch, 'leftovers')
  await prepareExampleRepositories(SOURCE, root)
  const owner = join(root, 'mountglass')
  await Promise.all(
    ['.handbook-old', '.handbook-young'].map(name => cp(join(owner, 'handbook.git'), join(owner, name), { recursive: true })),
  )
  await utimes(join(owner, '.handbook-old'), new Date(0), new Date(0))
  await writeFile(join(owner, 'handbook.git/example-digest'), 'of other sources')
  await prepareExampleRepositories(SOURCE, root)
  expect(await readdir(owner)).toEqual(['.handbook-young', 'handbook.git'])
})

test('a folder that is not the handbook is refused', async () => {
  await expect(prepareExampleRepositories(resolve('examples'), join(scratch, 'wrong'))).rejects.toThrow('SKILLSET.md is missing')
})

async function contentPaths(): Promise<string[]> {
  const entries = await readdir(SOURCE, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name).slice(SOURCE.length + 1))
}

describe('the reference repository is served', () => {
  const open = async (localRepositories: string) => {
    const env = { MOUNTGLASS_STORE: 'memory:', MOUNTGLASS_GITHUB: 'off', MOUNTGLASS_LOCAL_REPOSITORIES: localRepositories }
    const infra = await openInfra(parseInfraSettings(env))
    onTestFinished(infra.close)
    return infra.hosts[0] as GitHost
  }

  test("beside the operator's repositories", async () => {
    const repositories = await createRepositories()
    onTestFinished(repositories.remove)
    const tools = await repositories.create('acme', 'tools')
    const commit = await tools.commit({ 'a.md': '# A\n' })
    const host = await open(repositories.root)
    const reference = answered(await host.repository('mountglass', 'handbook'))
    expect(answered(await host.resolve(reference, 'main'))).toMatch(/^[0-9a-f]{40}$/)
    expect(answered(await host.resolve(answered(await host.repository('acme', 'tools')), null))).toBe(commit)
    expect(await host.repository('mountglass', 'nothing')).toEqual({ status: 'missing' })
  })

  test('unless the operator has one of its name', async () => {
    const repositories = await createRepositories()
    onTestFinished(repositories.remove)
    const own = await repositories.create('mountglass', 'handbook')
    const commit = await own.commit({ 'a.md': '# A\n' })
    const host = await open(repositories.root)
    expect(answered(await host.resolve(answered(await host.repository('mountglass', 'handbook')), null))).toBe(commit)
  })
})
