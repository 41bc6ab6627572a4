import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findCheckedOut } from '#infra/worktree/commit.ts'
import { findWorktree, type WorktreePlace } from '#infra/worktree/place.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'

function git(folder: string, ...args: string[]): string {
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
  return execFileSync('git', ['-C', folder, ...author, ...args], { encoding: 'utf8' }).trim()
}

/** A git work tree with one commit. */
async function worktree(): Promise<string> {
  const root = join(await temporaryFolder(), 'tools')
  await mkdir(join(root, 'a'), { recursive: true })
  git(root, 'init', '-q', '-b', 'main')
  await writeFile(join(root, 'a/SKILL.md'), 'Do it.\n')
  await writeFile(join(root, '.gitignore'), 'ignored\n')
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'first')
  return root
}

const look = async (folder: string) => findCheckedOut((await findWorktree(folder)) as WorktreePlace & { gitDir: string })
const headOf = (root: string) => git(root, 'rev-parse', 'HEAD')

describe('a git work tree', () => {
  test('whose files are those of its commit is clean, in a folder of it and in a linked one, too', async () => {
    const root = await worktree()
    await writeFile(join(root, 'ignored'), '')
    await writeFile(join(root, '.git/info/exclude'), 'own\n')
    await writeFile(join(root, 'own'), '')
    const clean = { commit: headOf(root), isClean: true }
    expect(await look(root)).toEqual(clean)
    expect(await look(join(root, 'a'))).toEqual(clean)
    git(root, 'worktree', 'add', '-q', '../linked')
    expect(await look(join(root, '../linked'))).toEqual(clean)
    // Written again with the same bytes.
    await utimes(join(root, 'a/SKILL.md'), 1, 1)
    expect(await look(root)).toEqual(clean)
  })

  test.each<[string, (root: string) => Promise<unknown> | unknown]>([
    ['a change', root => appendFile(join(root, 'a/SKILL.md'), 'More.\n')],
    ['a new file', root => writeFile(join(root, 'new.md'), '')],
    ['a removed file', root => rm(join(root, 'a/SKILL.md'))],
    ['a staged change', root => git(root, 'rm', '-q', '--cached', 'a/SKILL.md')],
    ['files that are not checked out', root => git(root, 'sparse-checkout', 'set', 'none')],
    ['a file that git was told not to look at', root => git(root, 'update-index', '--assume-unchanged', 'a/SKILL.md')],
    ['a file that git was told to leave out', root => git(root, 'update-index', '--skip-worktree', 'a/SKILL.md')],
    ['a clone without all files', root => git(root, 'config', 'remote.origin.promisor', 'true')],
  ])('with %s is not clean', async (_what, change) => {
    const root = await worktree()
    await change(root)
    expect(await look(root)).toEqual({ commit: headOf(root), isClean: false })
  })

  test('without a commit has none', async () => {
    const root = await temporaryFolder()
    git(root, 'init', '-q')
    expect(await look(root)).toEqual({ commit: null, isClean: false })
  })

  test('runs no program that its configuration names, and leaves its index as it is', async () => {
    const root = await worktree()
    for (const name of ['filter.evil.clean', 'filter.evil.process', 'core.fsmonitor']) git(root, 'config', name, 'touch ran')
    await writeFile(join(root, '.git/info/attributes'), '* filter=evil\n')
    await utimes(join(root, 'a/SKILL.md'), 1, 1)
    const before = await readdir(join(root, '.git'))
    expect((await look(root)).isClean).toBe(true)
    expect([await readdir(join(root, '.git')), await readdir(root)]).toEqual([before, expect.not.arrayContaining(['ran'])])
  })
})
