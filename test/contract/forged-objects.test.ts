import { afterAll, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { PathHistory } from '#core/ports/git-host.ts'
import { FORGED_KINDS, forgeObject } from '#test/support/forged-packs.ts'
import { describeAt, listAt, textsAt } from './git-host-asking.ts'
import { openLocalHostScene } from './git-host-local-scene.ts'

const { host, create, close } = await openLocalHostScene()
afterAll(close)

async function forged(kind: (typeof FORGED_KINDS)[number]) {
  const repository = await create()
  const commit = await repository.commit({ 'folder/file.md': 'told', 'other.md': 'other' })
  const oid = await repository.oidAt(commit, 'folder/file.md')
  await forgeObject(repository, commit, kind)
  expect(await repository.git('cat-file', 'blob', `${commit}:folder/file.md`), 'git believes the index').toBe('forged')
  return { repository, commit, oid }
}

test.each(FORGED_KINDS.filter(kind => kind !== 'file'))(
  'a commit is not read where the index of a pack lists another %s under its id',
  async kind => {
    const { repository, commit } = await forged(kind)
    await expect(listAt(host, repository, commit)).rejects.toMatchObject({ code: 'index.fetch_failed' })
  },
)

test("a history does not trust the index of a pack that lists another object under a commit's id", async () => {
  const repository = await create()
  const first = await repository.commit({ 'folder/file.md': 'one' })
  const second = await repository.commit({ 'folder/file.md': 'two' })
  const third = await repository.commit({ 'folder/file.md': 'three' })
  const told = async (commit: CommitSha) => host.history?.(await describeAt(host, repository), commit, ['folder/file.md'])
  await forgeObject(repository, first, 'commit')
  expect(await repository.git('log', '-1', '--format=%s', first), 'git believes the index').toBe('Forged')
  const { value } = (await told(third)) as { value: PathHistory }
  expect(value.commits.map(({ commit }) => commit)).toEqual([third, second])
  expect(value.isCut).toBe(true)
  await forgeObject(repository, second, 'commit')
  expect(await told(second)).toMatchObject({ status: 'unavailable' })
})

test('a file has no bytes where the index of a pack lists another one under its id; the rest is read', async () => {
  const { repository, commit, oid } = await forged('file')
  const { entries } = await listAt(host, repository, commit)
  expect(entries.map(entry => entry.path)).toEqual(['folder/file.md', 'other.md'])
  const other = await repository.oidAt(commit, 'other.md')
  expect(await textsAt(host, repository, commit, [oid, other])).toEqual([null, 'other'])
})
