import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { ListOptions } from '#core/ports/blob-store.ts'
import { damageKey } from '#core/snapshot/store-keys.ts'
import { storedRepositories } from '#indexer/sweep/repositories.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'

test('a repository with a great many entries is one like any other', async () => {
  const { repository } = jobOf(1)
  const commits = Array.from({ length: 150_000 }, (_, index) => createHash('sha1').update(`commit-${index}`).digest('hex'))
  const keys = commits.map(commit => damageKey(repository, commit as CommitSha)).sort()
  // As a store answers that has an index; the one in memory looks through everything for every page.
  const list = async (prefix: string, { after = '', limit = keys.length }: ListOptions = {}) => {
    if (!keys[0]?.startsWith(prefix)) return []
    const begin = after === '' ? 0 : keys.indexOf(after) + 1
    return keys.slice(begin, begin + limit)
  }
  const stores = { blobs: createMemoryBlobStore(handClock()), states: { ...createMemoryStateStore(), list } }
  const counts: number[] = []
  for await (const { found } of storedRepositories(stores)) counts.push(found.length)
  expect(counts).toEqual([keys.length])
})
