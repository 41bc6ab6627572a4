import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { answered } from '#test/support/answered.ts'
import { runs } from '#test/support/runs.ts'
import { meaningOf } from '#test/support/snapshot-meaning.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'
import { changedPlan, planted, type SearchPlan, searchPlan } from './search-repositories.ts'

/** A repository through some of its commits: what changes are contents, folders, exclusions and licenses. */
const history: fc.Arbitrary<SearchPlan[]> = searchPlan.chain(first =>
  changedPlan(first).chain(second => changedPlan(second).map(third => [first, second, third])),
)

test('the same commits give the same objects, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(history, async plans => {
      const [one, other] = [await indexed(plans), await indexed(plans)]
      expect(other.objects).toEqual(one.objects)
    }),
    { numRuns: runs(8) },
  )
})

test('a commit indexed behind others equals one indexed alone', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.shuffledSubarray([0, 1, 2], { minLength: 2 }), async (plans, order) => {
      const behindOthers = await indexed(plans, order)
      for (const number of order) {
        const alone = await indexed(plans, [number])
        expect(alone.snapshots).toHaveLength(1)
        const again = behindOthers.snapshots.find(({ commit }) => commit === alone.snapshots[0]?.commit)
        expect(again?.meaning).toEqual(alone.snapshots[0]?.meaning)
      }
    }),
    { numRuns: runs(8) },
  )
})

interface Indexed {
  /** Of every commit, in the order in which they were indexed. */
  snapshots: { commit: string; isSearched: boolean; meaning: unknown }[]
  /** Every object of the store. */
  objects: Record<string, string>
}

/** Commits the plans one behind the other and indexes those of `order`, each when the ones before it are done. */
async function indexed(plans: readonly SearchPlan[], order: readonly number[] = plans.map((_, at) => at)): Promise<Indexed> {
  const blobs = createMemoryBlobStore(systemClock)
  let reads = 0
  const read: BlobStore['read'] = key => {
    if (/\/p\//.test(key)) reads++
    return blobs.read(key)
  }
  const app = await testApp({}, { blobs: { ...blobs, read } })
  try {
    const repository = await app.repositories.create('acme', 'handbook')
    const commits: CommitSha[] = []
    for (const plan of plans) commits.push(await repository.commit(planted(plan).files, { replace: true }))
    const snapshots: Indexed['snapshots'] = []
    for (const number of order) {
      const commit = commits[number] as CommitSha
      const before = reads
      await app.open(`/local/acme/handbook@${commit}`)
      const readsOfEarlier = reads - before
      const snapshot = await snapshotOf(app, commit)
      // What is searched comes from the commit before: without this the test could compare two builds from scratch.
      if (snapshots.at(-1)?.isSearched && snapshot.isSearched) expect(readsOfEarlier).toBeGreaterThan(0)
      if (snapshots.length === 0) expect(readsOfEarlier).toBe(0)
      snapshots.push(snapshot)
    }
    return { snapshots, objects: await objectsOf(app.blobs, await app.blobs.list('')) }
  } finally {
    await app.close()
  }
}

async function snapshotOf({ host, deps, blobs }: TestApp, commit: CommitSha): Promise<Indexed['snapshots'][number]> {
  const repository = answered(await host.repository('acme', 'handbook'))
  const snapshot = await deps.snapshots.open(repository, commit)
  if (snapshot === null) throw new Error('the commit is not indexed')
  return { commit, isSearched: snapshot.header.search !== null, meaning: await meaningOf(blobs, repository, commit) }
}

async function objectsOf(blobs: BlobStore, keys: readonly string[]): Promise<Record<string, string>> {
  const bytes = await Promise.all(keys.map(async key => (await blobs.read(key))?.bytes ?? new Uint8Array()))
  return Object.fromEntries(keys.map((key, at) => [key, Buffer.from(bytes[at] ?? []).toString('hex')]))
}
