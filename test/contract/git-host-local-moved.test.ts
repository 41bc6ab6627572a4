import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { describeAt, MISSING, ok } from './git-host-asking.ts'
import { openLocalHostScene } from './git-host-local-scene.ts'

const scene = await openLocalHostScene()
const { create, repositories, inRoot, host, look, nextName } = scene
afterAll(scene.close)

/** What changed just now is not remembered: more than the tick of a clock of a file system. */
const SETTLED_MS = 60

describe.each(['bare', 'normal'] as const)('a %s repository after a look-up', layout => {
  const folderOf = ({ gitDir }: { gitDir: string }) => (layout === 'bare' ? gitDir : join(gitDir, '..'))

  test('that moved and left a link behind has the address of its new place', async () => {
    const repository = await create(layout)
    const commit = await repository.commit({ a: 'a' })
    await sleep(SETTLED_MS)
    expect(await look('acme', repository.name)).toEqual(ok(commit))
    await mkdir(inRoot('private'), { recursive: true })
    await rename(folderOf(repository), inRoot('private', repository.name))
    await symlink(inRoot('private', repository.name), folderOf(repository))
    expect(await describeAt(host, repository)).toMatchObject({ owner: 'private' })
  })

  test('that moved with its owner and left a link behind has the address of its new place', async () => {
    const [owner, later] = [`owner-${layout}`, `later-${layout}`]
    const repository = await repositories.create(owner, 'tools', { layout })
    const commit = await repository.commit({ a: 'a' })
    await sleep(SETTLED_MS)
    expect(await look(owner, 'tools')).toEqual(ok(commit))
    await rename(inRoot(owner), inRoot(later))
    await symlink(inRoot(later), inRoot(owner))
    expect(await describeAt(host, repository)).toMatchObject({ owner: later })
  })
})

test.each(['with its owner', 'alone'])(
  'the main repository of a worktree, moved %s after a look-up, has the address of its new place',
  async how => {
    const [owner, later] = [`main-${how.length}`, `moved-${how.length}`]
    const main = await repositories.create(owner, 'tools', { layout: 'normal' })
    const commit = await main.commit({ a: 'a' })
    const name = nextName()
    await mkdir(inRoot('acme'), { recursive: true })
    await main.git('worktree', 'add', '--quiet', '--no-checkout', '--detach', inRoot('acme', name))
    await sleep(SETTLED_MS)
    expect(await look('acme', name)).toEqual(ok(commit))
    const [from, to] = how === 'alone' ? [inRoot(owner, 'tools'), inRoot(later, 'tools')] : [inRoot(owner), inRoot(later)]
    if (how === 'alone') await mkdir(inRoot(later))
    await rename(from, to)
    await symlink(to, from)
    expect(await host.repository('acme', name)).toMatchObject({ status: 'ok', value: { main: { owner: later, name: 'tools' } } })
  },
)

test('a folder whose `.git` is dangling becomes a repository when its target exists', async () => {
  const target = await create()
  const commit = await target.commit({ a: 'a' })
  await rename(target.gitDir, inRoot('aside.git'))
  const name = nextName()
  await mkdir(inRoot('acme', name))
  await symlink(target.gitDir, inRoot('acme', name, '.git'))
  await sleep(SETTLED_MS)
  expect(await look('acme', name)).toEqual(MISSING)
  await rename(inRoot('aside.git'), target.gitDir)
  expect(await look('acme', name)).toEqual(ok(commit))
})

test('a HEAD that is a link is followed at once when its target changes, although both branches are packed', async () => {
  const repository = await create()
  const first = await repository.commit({ a: 'a' })
  const second = await repository.commit({ a: 'b' }, { branch: 'next', parent: first })
  await repository.git('pack-refs', '--all')
  const head = join(repository.gitDir, 'HEAD')
  const pointTo = async (branch: string) => {
    await symlink(`refs/heads/${branch}`, `${head}.new`)
    await rename(`${head}.new`, head)
  }
  await pointTo('main')
  await sleep(SETTLED_MS)
  expect(await look('acme', repository.name)).toEqual(ok(first))
  await pointTo('next')
  expect(await look('acme', repository.name)).toEqual(ok(second))
})

test('the list of repositories ends early if the folder has many other entries', async () => {
  await Promise.all(Array.from({ length: 60 }, (_, index) => mkdir(inRoot('crowd', `other-${index}`), { recursive: true })))
  await writeFile(inRoot('crowd', 'note'), '')
  expect((await host.list(50)).isComplete).toBe(false)
})
