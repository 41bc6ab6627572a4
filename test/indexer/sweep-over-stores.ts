import { expect, onTestFinished, test } from 'vitest'
import { UNUSED_PACK_HOURS } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { damageKey, jobKey, lastIndexedKey } from '#core/snapshot/store-keys.ts'
import type { ServerName } from '#test/support/servers/servers.ts'
import { makeSnapshot } from '#test/support/small-snapshots.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'
import { handClock } from '#test/support/store-values.ts'
import { commitOf, DAY, HOUR, type Place, placeOver, repository, textsOf, written } from '#test/support/sweep-places.ts'

/** Drivers of the two stores that a deployment uses together. */
export interface StorePair {
  driver: string
  server?: ServerName
  blobs: StoreDriver<BlobStore>
  states: StoreDriver<StateStore>
}

export function pairOf(blobs: StoreDriver<BlobStore> | undefined, states: StoreDriver<StateStore> | undefined): StorePair {
  if (blobs === undefined || states === undefined) throw new Error('there is no such driver')
  const driver = blobs.driver === states.driver ? blobs.driver : `${blobs.driver} and ${states.driver}`
  const server = states.server ?? blobs.server
  return { driver, ...(server === undefined ? {} : { server }), blobs, states }
}

/** What a sweep does over every pair of stores. */
export function sweepOverStores({ blobs, states }: StorePair): void {
  async function openPlace(): Promise<Place> {
    const [blobStore, stateStore] = [await blobs.open(await temporaryFolder()), await states.open(await temporaryFolder())]
    onTestFinished(async () => {
      await Promise.all([blobStore.close(), stateStore.close()])
    })
    const clock = handClock(new Date().toISOString())
    return placeOver({ blobs: datedBy(clock, blobStore), states: stateStore }, clock)
  }

  test('lists what it would remove, removes it, and its packs a day later, and keeps used objects', async () => {
    const all = await openPlace()
    const dead = await written(all, 1, ['kept', 'dropped'])
    const alone = await written(all, 3)
    await all.stores.states.create(lastIndexedKey(repository), { commit: dead.commit })
    all.clock.advance(60 * DAY)
    const alive = await written(all, 2, ['new'], dead)
    all.clock.advance(31 * DAY)
    const before = await all.keys()

    const told = await all.sweep({ remove: false })
    expect(await all.keys()).toEqual(before)
    const first = await all.sweep()
    expect(first).toEqual(told)
    expect(first).toMatchObject({ snapshots: { expired: 2 }, entries: 1, packs: 0, keptSnapshots: 1, waitingPacks: 1 })
    expect(await textsOf(all, dead)).toBeNull()
    expect(await textsOf(all, alone)).toBeNull()
    expect(await textsOf(all, alive)).toEqual(['dropped', 'kept', 'new'])

    all.clock.advance((UNUSED_PACK_HOURS - 1) * HOUR)
    expect(await all.sweep()).toMatchObject({ packs: 0, waitingPacks: 1 })
    all.clock.advance(HOUR)
    const [alonePack] = alone.header.packs
    expect(await all.sweep({ remove: false })).toMatchObject({ packs: 1, bytes: alonePack?.sizeBytes })
    expect(await all.sweep()).toMatchObject({ packs: 1, bytes: alonePack?.sizeBytes, entries: 0, waitingPacks: 0 })
    expect(await textsOf(all, alive)).toEqual(['dropped', 'kept', 'new'])

    const left = await all.keys()
    expect(await all.sweep()).toMatchObject({ packs: 0, entries: 0, bytes: 0, keptSnapshots: 1 })
    expect(await all.keys()).toEqual(left)
    expect(left.length).toBe(3)
    all.clock.advance(91 * DAY)
    await all.sweep()
    all.clock.advance(DAY)
    await all.sweep()
    expect(await all.keys()).toEqual([])
  })

  test('removes objects of a dead job, and entries without a snapshot', async () => {
    const all = await openPlace()
    const never = await makeSnapshot(repository, commitOf(1), ['never published'])
    await never.writePacks(all.stores.blobs)
    await all.stores.states.create(lastIndexedKey(repository), { commit: commitOf(1) })
    await all.stores.states.create(jobKey(repository, commitOf(1)), { state: 'what no version knows' })
    await all.stores.states.create(damageKey(repository, commitOf(1)), {
      state: 'reported',
      at: all.clock.now().toISOString(),
      repairs: 0,
    })
    expect(await all.sweep()).toMatchObject({ packs: 0, waitingPacks: 1, entries: 3 })
    all.clock.advance(DAY)
    expect(await all.sweep()).toMatchObject({ packs: 1, bytes: never.header.packs[0]?.sizeBytes })
    all.clock.advance(90 * DAY)
    await all.sweep()
    expect(await all.keys()).toEqual([])
  })
}

/** The store with the instants of the test's clock: a driver gives those of its machine. */
function datedBy(clock: Clock, blobs: BlobStore): BlobStore {
  const written = new Map<string, Date>()
  return {
    ...blobs,
    async create(key, bytes) {
      const outcome = await blobs.create(key, bytes)
      if (outcome === 'created') written.set(key, clock.now())
      return outcome
    },
    async read(key) {
      const found = await blobs.read(key)
      return found && { ...found, createdAt: written.get(key) ?? found.createdAt }
    },
  }
}
