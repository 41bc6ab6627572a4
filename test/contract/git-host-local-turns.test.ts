import { afterAll, expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { holdGitWalks } from '#test/support/held-git.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { until } from '#test/support/until.ts'
import { describeAt, MISSING, ok, resolveAt } from './git-host-asking.ts'
import { openLocalHostScene } from './git-host-local-scene.ts'

const scene = await openLocalHostScene()
const { host, create, look } = scene
afterAll(scene.close)

/** A repository with commits that no ref leads to. */
async function createWithLost(count: number): Promise<{ repository: TestRepository; lost: CommitSha[] }> {
  const repository = await create()
  const root = await repository.commit({ a: 'a' })
  const lost: CommitSha[] = []
  for (let number = 0; number < count; number++)
    lost.push(await repository.commit({ a: `lost ${number} of ${repository.name}` }, { branch: null, parent: root }))
  return { repository, lost }
}

test('forty unreachable hashes delay neither refs nor hashes of another repository, nor refs of their own', async () => {
  const { repository, lost } = await createWithLost(40)
  const other = await createWithLost(1)
  const git = await holdGitWalks()
  const attacked = await describeAt(host, repository)
  const answers = lost.map(commit => host.resolve(attacked, commit))
  await until(async () => (await git.walks()).length > 0)

  const visited = await create()
  const commit = await visited.commit({ a: 'a' })
  expect(await look('acme', visited.name), 'a new ref of another repository').toEqual(ok(commit))
  const later = await repository.commit({ a: 'later' })
  expect(await look('acme', repository.name), 'a new ref of the same one').toEqual(ok(later))
  expect(await git.walks()).toHaveLength(1)
  const [hash] = other.lost
  const elsewhere = resolveAt(host, other.repository, hash ?? '')
  await until(async () => (await git.walks()).length === 2)

  await git.goOn()
  expect(await elsewhere).toEqual(MISSING)
  for (const answer of await Promise.all(answers))
    expect(answer.status === 'missing' || (answer.status === 'unavailable' && answer.retryAfterSeconds !== null)).toBe(true)
})

test('too many hashes of one repository are refused with a wait, not those of another', async () => {
  const { repository, lost } = await createWithLost(3)
  const git = await holdGitWalks()
  const attacked = await describeAt(host, repository)
  const madeUp = Array.from({ length: 60 }, (_, number) => number.toString(16).padStart(40, 'a'))
  const answers = [...lost, ...madeUp].map(commit => host.resolve(attacked, commit))
  const statuses = () => Promise.all(answers.slice(-20).map(answer => answer))
  expect(await statuses()).toEqual(Array(20).fill({ status: 'unavailable', retryAfterSeconds: 2 }))
  const visited = await create()
  const first = await visited.commit({ a: 'a' })
  const pinned = resolveAt(host, visited, first)
  await git.goOn()
  expect(await pinned).toEqual(ok(first))
  await Promise.all(answers)
})

test('an unreachable hash costs one walk of the history while refs stay, for any number of concurrent requests', async () => {
  const { repository, lost } = await createWithLost(5)
  const git = await holdGitWalks()
  await git.goOn()
  const described = await describeAt(host, repository)
  const askAll = () => Promise.all([...lost, ...lost].map(commit => host.resolve(described, commit)))
  for (let round = 0; round < 3; round++) expect(await askAll()).toEqual(Array(10).fill(MISSING))
  const walks = (await git.walks()).length
  // The quick walk by date, and the exact one.
  expect(walks).toBeLessThanOrEqual(2 * lost.length)
  const [found] = lost
  await repository.branch('found', found ?? '')
  await until(async () => (await host.resolve(described, found ?? '')).status === 'ok')
  expect(await askAll()).toEqual([...Array(2)].flatMap(() => [ok(found), ...Array(4).fill(MISSING)]))
  expect((await git.walks()).length).toBeLessThanOrEqual(2 * walks)
})
