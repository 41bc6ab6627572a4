import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { TestRepository } from '#test/support/repository.ts'
import { describeAt, MISSING, ok } from './git-host-asking.ts'
import { openLocalHostScene } from './git-host-local-scene.ts'

const scene = await openLocalHostScene()
const { repositories, host, nextName, create, inRoot, look } = scene
afterAll(scene.close)

/** A repository whose commit must not be shown under another name. */
async function createForeign(layout: 'bare' | 'normal' = 'bare') {
  const repository = await create(layout)
  return { repository, secret: await repository.commit({ 'secret.md': 'secret' }) }
}

/** Moves the folder of a repository to where no address leads. */
async function hide(repository: TestRepository, ...to: string[]): Promise<string> {
  await mkdir(join(inRoot(...to), '..'), { recursive: true })
  await rename(repository.gitDir, inRoot(...to))
  return inRoot(...to)
}

describe('a link inside the root', () => {
  test('gives the repository under the address of its real place', async () => {
    const repository = await create()
    const commit = await repository.commit({ a: 'a' })
    await symlink(inRoot('acme'), inRoot('other'))
    await symlink(repository.gitDir, inRoot('acme', 'another'))
    const real = await describeAt(host, repository)
    for (const [owner, name] of [
      ['other', repository.name],
      ['acme', 'another'],
      ['other', 'another'],
    ] as const) {
      expect(await describeAt(host, { ...repository, owner, name })).toEqual(real)
      expect(await look(owner, name)).toEqual(ok(commit))
    }
  })

  test.each([
    ['a dotted folder', ['acme', '.hidden.git']],
    ['a dotted owner', ['.acme', 'tools.git']],
    ['a deeper folder', ['acme', 'group', 'tools.git']],
    ['a folder of its own', ['lonely.git']],
  ])('to %s, which has no address, is missing', async (_, hidden) => {
    const { repository } = await createForeign()
    const real = await hide(repository, ...hidden)
    const name = nextName()
    await symlink(real, inRoot('acme', name))
    expect(await look('acme', name)).toEqual(MISSING)
    await rm(inRoot('acme', name))
    await mkdir(inRoot('acme', name))
    await symlink(real, inRoot('acme', name, '.git'))
    expect(await look('acme', name)).toEqual(MISSING)
    await rm(real, { recursive: true })
  })

  test('to a repository whose address belongs to another one is missing', async () => {
    const plain = await create('normal')
    const bare = await repositories.create('acme', plain.name)
    await plain.commit({ a: 'plain' })
    await bare.commit({ a: 'bare' })
    const name = nextName()
    await symlink(bare.gitDir, inRoot('acme', name))
    expect(await look('acme', name)).toEqual(MISSING)
  })

  test('named .git gives the repository under the address of that git dir', async () => {
    const { repository, secret } = await createForeign('normal')
    const name = nextName()
    await mkdir(inRoot('acme', name))
    await symlink(repository.gitDir, inRoot('acme', name, '.git'))
    expect((await describeAt(host, { ...repository, name })).name).toBe(repository.name)
    expect(await look('acme', name)).toEqual(ok(secret))
  })
})

describe('a file that names another repository is not followed:', () => {
  test.each(['bare', 'normal'] as const)('commondir in a %s repository', async layout => {
    const { repository: foreign } = await createForeign()
    const repository = await create(layout)
    await repository.commit({ a: 'a' })
    await writeFile(join(repository.gitDir, 'commondir'), `${foreign.gitDir}\n`)
    expect(await look('acme', repository.name)).toEqual(MISSING)
  })

  test.each(['bare', 'normal'] as const)('.git with the git dir of a %s repository', async layout => {
    const { repository: foreign } = await createForeign(layout)
    const name = nextName()
    await mkdir(inRoot('acme', name))
    await writeFile(inRoot('acme', name, '.git'), `gitdir: ${foreign.gitDir}\n`)
    expect(await look('acme', name)).toEqual(MISSING)
  })
})

describe('a linked worktree', () => {
  /** A worktree of a repository. `admin`: its git dir in that repository. */
  async function createWorktree() {
    const { repository: main, secret } = await createForeign('normal')
    const name = nextName()
    await main.git('worktree', 'add', '--quiet', '--no-checkout', '--detach', inRoot('acme', name))
    return { main, secret, name, admin: join(main.gitDir, 'worktrees', name) }
  }

  test('has the address of its main repository', async () => {
    const { main, secret, name } = await createWorktree()
    const described = await describeAt(host, { ...main, name })
    expect(described).toMatchObject({ owner: 'acme', name, main: { owner: 'acme', name: main.name } })
    expect(await look('acme', name)).toEqual(ok(secret))
    expect(await describeAt(host, main)).not.toHaveProperty('main')
  })

  test('that its repository does not list is missing', async () => {
    const { name, admin, secret } = await createWorktree()
    await writeFile(join(admin, 'gitdir'), `${inRoot('acme', 'elsewhere', '.git')}\n`)
    expect(await look('acme', name)).toEqual(MISSING)
    await rm(join(admin, 'gitdir'))
    expect(await look('acme', name)).toEqual(MISSING)
    await writeFile(join(admin, 'gitdir'), `${inRoot('acme', name, '.git')}\n`)
    expect(await look('acme', name)).toEqual(ok(secret))
  })

  test('whose commondir names another repository is missing', async () => {
    const { name, admin } = await createWorktree()
    const { repository: other } = await createForeign()
    await writeFile(join(admin, 'commondir'), `${other.gitDir}\n`)
    expect(await look('acme', name)).toEqual(MISSING)
  })

  test('made by hand beside a repository that does not list it is missing', async () => {
    const { repository: foreign, secret } = await createForeign()
    const name = nextName()
    const admin = inRoot('acme', name, 'worktrees', 'one')
    await mkdir(admin, { recursive: true })
    await writeFile(inRoot('acme', name, '.git'), 'gitdir: worktrees/one\n')
    await writeFile(join(admin, 'HEAD'), `${secret}\n`)
    await writeFile(join(admin, 'commondir'), `${foreign.gitDir}\n`)
    await writeFile(join(admin, 'gitdir'), `${inRoot('acme', name, '.git')}\n`)
    expect(await look('acme', name)).toEqual(MISSING)
  })

  test('of a repository without an address is missing', async () => {
    const { main, name } = await createWorktree()
    const hidden = inRoot('acme', `.${main.name}`)
    await rename(join(main.gitDir, '..'), hidden)
    await writeFile(inRoot('acme', name, '.git'), `gitdir: ${join(hidden, '.git/worktrees', name)}\n`)
    expect(await look('acme', name)).toEqual(MISSING)
  })
})
