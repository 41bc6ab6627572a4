import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ReadError } from '#core/ports/git-host.ts'
import { WorktreeError } from '#infra/worktree/place.ts'
import { openWorktree, type Worktree } from '#infra/worktree/reader.ts'
import { until } from '#test/support/until.ts'

const LIMITS = { treeEntries: 1_000, seconds: 60 }

let outside: string
let root: string
let opened: Worktree[]
beforeEach(async () => {
  outside = await realpath(await mkdtemp(join(tmpdir(), 'mountglass-worktree-')))
  root = join(outside, 'tools')
  await mkdir(root)
  opened = []
})
afterEach(async () => {
  for (const worktree of opened) await worktree.close()
  await rm(outside, { recursive: true, force: true })
})

test('a git work tree has the files that a commit of everything would have, without ignored and deleted files', async () => {
  await write({ '.gitignore': '*.log\n', 'kept.md': 'old', 'staged.md': 'old', 'deleted.md': 'x', 'removed.md': 'x' })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  await write({ 'kept.md': 'changed', 'staged.md': 'staged', 'new/untracked.md': 'new', 'build.log': 'noise' })
  git('add', 'staged.md')
  await write({ 'staged.md': 'changed again' })
  await rm(join(root, 'deleted.md'))
  git('rm', '-q', 'removed.md')
  expect(await contents()).toEqual({
    '.gitignore': '*.log\n',
    'kept.md': 'changed',
    'new/untracked.md': 'new',
    'staged.md': 'changed again',
  })
})

test('files that are removed from the index but still exist count, since they would be added again', async () => {
  await write({ 'a.md': 'a' })
  git('init', '-q')
  git('add', '.')
  git('rm', '-q', '--cached', 'a.md')
  expect(await contents()).toEqual({ 'a.md': 'a' })
})

test("the user's own ignore file counts, and nothing else of the user's git", async () => {
  await write({ 'a.md': 'a', '.DS_Store': 'noise' })
  git('init', '-q')
  const home = join(outside, 'home')
  await mkdir(join(home, 'git'), { recursive: true })
  await writeFile(join(home, 'git', 'config'), '[core]\n\texcludesFile = ignored-by-me\n')
  const before = process.env.XDG_CONFIG_HOME
  process.env.XDG_CONFIG_HOME = home
  try {
    expect(Object.keys(await contents())).toEqual(['.DS_Store', 'a.md'])
    await writeFile(join(home, 'git', 'config'), `[core]\n\texcludesFile = ${join(home, 'mine')}\n`)
    await writeFile(join(home, 'mine'), '.DS_Store\n')
    expect(Object.keys(await contents())).toEqual(['a.md'])
  } finally {
    if (before === undefined) delete process.env.XDG_CONFIG_HOME
    else process.env.XDG_CONFIG_HOME = before
  }
})

test('outside git every file below the folder counts, but nothing of .git, pipes or devices', async () => {
  await write({ 'a.md': 'a', 'deep/er/b.md': 'b', '.hidden/c.md': 'c', 'deep/.git/config': 'not a repository' })
  execFileSync('mkfifo', [join(root, 'pipe')])
  const worktree = await open()
  expect(worktree.description).toEqual({ root, gitDir: null, folder: '' })
  expect(await contents(worktree)).toEqual({ '.hidden/c.md': 'c', 'a.md': 'a', 'deep/er/b.md': 'b' })
})

test('modes and sizes are those of the files, in the order of git', async () => {
  await write({ 'a/b.md': '12345', 'a.md': '1', run: '#!/bin/sh\n' })
  await chmod(join(root, 'run'), 0o755)
  await symlink('../../secret', join(root, 'link'))
  const worktree = await open()
  const entries = await collect(worktree.entries())
  expect(entries.map(({ path, mode, sizeBytes }) => [path, mode, sizeBytes])).toEqual([
    ['a.md', '100644', 1],
    ['a/b.md', '100644', 5],
    ['link', '120000', 12],
    ['run', '100755', 10],
  ])
  expect(entries.every(({ oid }) => /^[0-9a-f]{40}$/.test(oid))).toBe(true)
  expect(new Set(entries.map(({ oid }) => oid)).size).toBe(4)
})

test('a link is its target text, and its target, file or folder, is not read', async () => {
  await mkdir(join(outside, 'private'))
  await writeFile(join(outside, 'private', 'secret.md'), 'secret')
  await symlink('../private/secret.md', join(root, 'file'))
  await symlink('../private', join(root, 'folder'))
  await symlink('nowhere', join(root, 'dangling'))
  const expected = { dangling: 'nowhere', file: '../private/secret.md', folder: '../private' }
  expect(await contents()).toEqual(expected)
  git('init', '-q')
  git('add', '.')
  expect(await contents()).toEqual(expected)
})

test('a tracked folder that became a link out of the repository is not read', async () => {
  await write({ 'docs/a.md': 'mine' })
  git('init', '-q')
  git('add', '.')
  await mkdir(join(outside, 'private'))
  await writeFile(join(outside, 'private', 'a.md'), 'secret')
  await rm(join(root, 'docs'), { recursive: true })
  await symlink('../private', join(root, 'docs'))
  expect(await contents()).toEqual({ docs: '../private' })
})

test.each([
  ['vanishes', (path: string) => rm(path)],
  ['grows', (path: string) => writeFile(path, 'a longer text')],
  ['becomes a link', async (path: string) => [await rm(path), await symlink('../secret', path)]],
  ['becomes a pipe', async (path: string) => [await rm(path), execFileSync('mkfifo', [path])]],
  [
    'is moved behind a link',
    async (path: string) => {
      await rename(dirname(path), join(outside, 'moved'))
      await symlink('../moved', dirname(path))
    },
  ],
])('a file that %s between listing and reading is a missing blob', async (_what, change) => {
  await write({ 'docs/a.md': 'a text', 'b.md': 'b' })
  await writeFile(join(outside, 'secret'), 'secret')
  const worktree = await open()
  const entries = await collect(worktree.entries())
  await change(join(root, 'docs/a.md'))
  const blobs = await collect(
    worktree.read(
      entries.map(entry => entry.oid),
      100,
    ),
  )
  expect(blobs.map(({ bytes }) => bytes && Buffer.from(bytes).toString())).toEqual(['b', null])
})

test('bytes are read in the requested order; a blob that is too large or unknown is null', async () => {
  await write(Object.fromEntries(Array.from({ length: 100 }, (_, number) => [`${number}.md`, 'x'.repeat(number)])))
  const worktree = await open()
  const entries = await collect(worktree.entries())
  const wanted = [...entries].reverse()
  const blobs = await collect(worktree.read([...wanted.map(entry => entry.oid), 'f'.repeat(40)], 50))
  expect(blobs.map(blob => blob.oid)).toEqual([...wanted.map(entry => entry.oid), 'f'.repeat(40)])
  expect(blobs.map(blob => blob.bytes?.length ?? null)).toEqual([
    ...wanted.map(entry => ((entry.sizeBytes ?? 0) > 50 ? null : entry.sizeBytes)),
    null,
  ])
})

test('a folder of a work tree is a mount: the root is that of the work tree', async () => {
  await write({ 'SKILLSET.md': 'rules', 'skills/deep/a.md': 'a' })
  git('init', '-q')
  const worktree = await open(join(root, 'skills/deep'))
  expect(worktree.description).toEqual({ root, gitDir: join(root, '.git'), folder: 'skills/deep' })
  expect(Object.keys(await contents(worktree))).toEqual(['SKILLSET.md', 'skills/deep/a.md'])
})

test('a linked work tree is one by itself', async () => {
  await write({ 'a.md': 'a' })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  git('worktree', 'add', '-q', join(outside, 'linked'))
  await writeFile(join(outside, 'linked', 'b.md'), 'b')
  const worktree = await open(join(outside, 'linked'))
  expect(worktree.description.root).toBe(join(outside, 'linked'))
  expect(await contents(worktree)).toEqual({ 'a.md': 'a', 'b.md': 'b' })
})

test('a repository inside the repository is a submodule, tracked or not, and is not read', async () => {
  await write({ 'a.md': 'a', 'inner/b.md': 'b', 'other/c.md': 'c' })
  for (const folder of ['inner', 'other']) {
    for (const args of [
      ['init', '-q'],
      ['add', '.'],
      ['commit', '-qm', 'inner'],
    ])
      gitIn(join(root, folder), ...args)
  }
  git('init', '-q')
  git('-c', 'advice.addEmbeddedRepo=false', 'add', 'a.md', 'inner')
  const entries = await collect((await open()).entries())
  expect(entries.map(({ path, mode, sizeBytes }) => [path, mode, sizeBytes])).toEqual([
    ['a.md', '100644', 1],
    ['inner', '160000', null],
    ['other', '160000', null],
  ])
})

test('files that a sparse checkout leaves out are counted as not seen', async () => {
  await write({ 'a.md': 'a', 'left/out.md': 'x', 'left/too.md': 'x', 'kept/b.md': 'b' })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  git('sparse-checkout', 'set', 'kept')
  const worktree = await open()
  expect(Object.keys(await contents(worktree))).toEqual(['a.md', 'kept/b.md'])
  expect(worktree.unseen).toEqual({ folders: new Set(), notCheckedOut: 2 })
})

test('names of any bytes are listed; those that are not UTF-8 have no path', async () => {
  await write({ 'ü é.md': 'a', 'line\nbreak.md': 'b', '-dash.md': 'c', '"quoted".md': 'd' })
  await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), 'x')
  for (const isGit of [false, true]) {
    if (isGit) git('init', '-q')
    const entries = await collect((await open()).entries())
    expect(entries.map(entry => entry.path)).toEqual(['"quoted".md', '-dash.md', 'line\nbreak.md', 'ü é.md', null])
  }
})

test('reading stops at the limit of entries and reports that', async () => {
  await write(Object.fromEntries(Array.from({ length: 20 }, (_, number) => [`${number}.md`, 'x'])))
  for (const isGit of [false, true]) {
    if (isGit) git('init', '-q')
    const worktree = await open(root, { treeEntries: 5, seconds: 60 })
    expect((await collect(worktree.entries())).length).toBe(5)
    expect(worktree.cut).toBe(true)
  }
})

test('reading stops when its time is over', async () => {
  await write({ 'a.md': 'a' })
  const worktree = await open(root, { treeEntries: 5, seconds: 0 })
  await until(async () => (await collect(worktree.entries()).catch(error => error)) instanceof ReadError)
})

test.each([
  ['nothing', 'does not exist'],
  ['file', 'is not a folder'],
  ['file/below', 'does not exist'],
])('%s is refused in one line with the reason', async (name, why) => {
  await write({ file: 'x' })
  const failure = await openWorktree(join(root, name), LIMITS).catch(error => error)
  expect(failure).toBeInstanceOf(WorktreeError)
  expect(failure.message).toContain(why)
})

test('a bare repository is refused, since it has no working folder', async () => {
  git('init', '-q', '--bare')
  await expect(openWorktree(root, LIMITS)).rejects.toThrow('is a bare repository')
})

test('a repository that git cannot read is refused', async () => {
  await write({ 'a.md': 'a' })
  git('init', '-q')
  git('add', '.')
  await writeFile(join(root, '.git', 'index'), 'not an index')
  const worktree = await open()
  await expect(collect(worktree.entries())).rejects.toThrow(WorktreeError)
})

test('programs that the configuration of a repository names are not run', async () => {
  await write({ 'a.md': 'a' })
  git('init', '-q')
  git('add', '.')
  const trace = join(outside, 'ran')
  git('config', 'core.fsmonitor', `touch ${trace}`)
  expect(await contents()).toEqual({ 'a.md': 'a' })
  await expect(readFile(trace)).rejects.toThrow('ENOENT')
})

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

function git(...args: string[]): void {
  gitIn(root, ...args)
}

function gitIn(folder: string, ...args: string[]): void {
  const person = ['-c', 'user.name=Test Person', '-c', 'user.email=test@example.org']
  execFileSync('git', ['-C', folder, ...person, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function open(folder = root, limits = LIMITS): Promise<Worktree> {
  const worktree = await openWorktree(folder, limits)
  opened.push(worktree)
  return worktree
}

/** Every file with a path, and its bytes as text. */
async function contents(given?: Worktree): Promise<Record<string, string | null>> {
  const worktree = given ?? (await open())
  const entries = await collect(worktree.entries())
  const blobs = await collect(
    worktree.read(
      entries.map(entry => entry.oid),
      1_000,
    ),
  )
  return Object.fromEntries(
    entries.map((entry, index) => {
      const bytes = blobs[index]?.bytes
      return [entry.path ?? '', bytes ? Buffer.from(bytes).toString() : null]
    }),
  )
}

async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const collected: Value[] = []
  for await (const value of values) collected.push(value)
  return collected
}
