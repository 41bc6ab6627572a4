import { readdir } from 'node:fs/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type CommitGraphCache,
  type CommitGraphCacheOptions,
  createCommitGraphCache,
  HISTORY_BOUNDS,
  surplusAmong,
} from '#infra/git/commit-graph-cache.ts'
import { FetchTooLarge } from '#infra/git/fetch.ts'
import { tipSetOf, tipsToName } from '#infra/git/history.ts'
import type { TestRepository } from '#test/support/repository.ts'
import { serveRepositories } from '#test/support/served-repositories.ts'
import { until } from '#test/support/until.ts'

const served = await serveRepositories()
const { github, temporary, create } = served
let repository: TestRepository
let closing: AbortController
let commitGraphs: CommitGraphCache

beforeEach(async () => {
  github.reset()
  // Only `advance` moves it: how long a test takes decides nothing.
  github.clock.stopAt(Date.now())
  repository = await create()
  commitGraphs = open()
})

afterEach(async () => {
  closing.abort()
  await commitGraphs.close()
  expect(await readdir(temporary)).toEqual([])
})

afterAll(served.close)

/** Is closed with the test. */
function open(options: Partial<CommitGraphCacheOptions> = {}): CommitGraphCache {
  closing = new AbortController()
  commitGraphs = createCommitGraphCache({
    clock: { now: () => new Date(github.clock.now()) },
    closing: closing.signal,
    ...options,
  })
  return commitGraphs
}

function ask(commit: string, tips: readonly string[], of = repository): Promise<boolean> {
  const remote = { url: `${github.origins.web}/acme/${of.name}.git`, authorization: null }
  return commitGraphs.leadTo({ id: of.name, remote }, tipSetOf(tips), commit)
}

const fetches = () => github.log.git.map(({ git }) => [git?.wants, git?.haves])
const none = 'f'.repeat(40)

test('a history is fetched once for the same tips, then its additions, and after many times all of it again', async () => {
  const tips = [await repository.commit({ a: '0' }), await repository.commit({ b: '0' }, { branch: 'side', parent: null })]
  for (let change = 1; change <= 22; change++) {
    expect(await ask(none, tips)).toBe(false)
    expect(await ask(tips[0] as string, tips)).toBe(true)
    tips[0] = await repository.commit({ a: `${change}` })
  }
  expect(fetches()).toEqual([[2, 0], ...Array.from({ length: 20 }, () => [1, 2]), [2, 0]])
})

test('callers that wait for a failing fetch share its end; a later caller tries again', async () => {
  const tips = [await repository.commit({ a: 'a' })]
  // On a connection that was used before, it is asked once more.
  github.faults.add({ status: 500, body: '', delaySeconds: 0.1 })
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => ask(none, tips)))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 'rejected'))
  expect(fetches()).toHaveLength(1)
  expect(await ask(none, tips)).toBe(false)
  expect(fetches()).toHaveLength(2)
})

test('a repository whose history does not arrive delays no other, for any number of requests', async () => {
  const [tips, other] = [[await repository.commit({ a: 'a' })], await create()]
  const commit = await other.commit({ a: 'a' })
  github.faults.add({ stall: true, times: 99, match: { path: new RegExp(`/${repository.name}\\.git/`) } })
  const asked = Promise.allSettled(Array.from({ length: 60 }, () => ask(none, tips)))
  expect(await ask(commit, [commit], other)).toBe(true)
  // The process that prepares the other fetch may be slower.
  await until(() => fetches().length === 2)
  closing.abort()
  const refusals = (await asked).map(answer => answer.status === 'rejected' && answer.reason.name)
  expect(refusals.filter(name => name === 'GateFull')).toHaveLength(28)
  expect(refusals.filter(name => name === 'AbortError')).toHaveLength(32)
})

test('a repository above its resource limits is not tried again for ten minutes', async () => {
  const tips = [await repository.commit({ a: 'a' }, { message: Array.from({ length: 2_000 }, (_, index) => index).join() })]
  open({ resources: { cpuSeconds: 60, fileBytes: 512 } })
  await expect(ask(none, tips)).rejects.toThrow(FetchTooLarge)
  github.clock.advance(599)
  await expect(ask(none, tips)).rejects.toThrow(FetchTooLarge)
  expect(fetches()).toHaveLength(1)
  github.clock.advance(2)
  await expect(ask(none, tips)).rejects.toThrow(FetchTooLarge)
  expect(fetches()).toHaveLength(2)
})

describe('the cached history', () => {
  test('is removed after its time', async () => {
    open({ bounds: { ...HISTORY_BOUNDS, milliseconds: 1 } })
    const tips = [await repository.commit({ a: 'a' })]
    expect(await ask(none, tips)).toBe(false)
    await until(async () => (await readdir(temporary)).length === 0)
    expect(await ask(none, tips)).toBe(false)
    expect(fetches()).toHaveLength(2)
  })

  test('is removed when it takes too much of the disk', async () => {
    open({ bounds: { ...HISTORY_BOUNDS, bytes: 1 } })
    expect(await ask(none, [await repository.commit({ a: 'a' })])).toBe(false)
    await until(async () => (await readdir(temporary)).length === 0)
  })

  const held = (name: string, bytes: number, more = {}) => ({ name, bytes, isUsed: false, isOld: false, ...more })

  test.each([
    ['few and small', [held('a', 1), held('b', 1)], []],
    ['too many', [held('a', 1), held('b', 1), held('c', 1), held('d', 1)], ['a']],
    ['too many, in use', [held('a', 1, { isUsed: true }), held('b', 1), held('c', 1), held('d', 1)], ['b']],
    ['too large', [held('a', 5), held('b', 5), held('c', 5)], ['a']],
    ['too large alone', [held('a', 1), held('b', 11)], ['b']],
    ['old', [held('a', 1), held('b', 1, { isOld: true }), held('c', 1, { isOld: true, isUsed: true })], ['b']],
    ['too many but for an old one', [held('a', 1), held('b', 1), held('c', 1), held('d', 1, { isOld: true })], ['d']],
  ])('that is %s', (_, all, expected) => {
    expect(surplusAmong(all, { repositories: 3, bytes: 10 }).map(({ name }) => name)).toEqual(expected)
  })
})

test('of many earlier tips the moved ones are named, and then as many others as a request allows', () => {
  const oids = Array.from({ length: 1_500 }, (_, index) => index.toString(16).padStart(40, '0'))
  const named = tipsToName(oids, new Set(oids.slice(0, 1_499)))
  expect(named).toEqual([oids[1_499], ...oids.slice(0, 999)])
})
