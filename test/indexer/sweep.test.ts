import { describe, expect, test } from 'vitest'
import type { HostRepository } from '#core/ports/git-host.ts'
import { headerKey, jobKey, keysAt, packKey, queueKey, VERSIONS } from '#core/snapshot/store-keys.ts'
import { makeSnapshot, writeWhole } from '#test/support/small-snapshots.ts'
import { describeDrivers, LOCAL_BLOB_STORES, LOCAL_STATE_STORES } from '#test/support/store-drivers.ts'
import {
  commitOf,
  DAY,
  HOUR,
  hidden,
  inMemory,
  list,
  opened,
  place,
  placeOver,
  repository,
  textsOf,
  written,
} from '#test/support/sweep-places.ts'

import { pairOf, sweepOverStores } from './sweep-over-stores.ts'

const PAIRS = LOCAL_BLOB_STORES.map((blobs, at) => pairOf(blobs, LOCAL_STATE_STORES[at]))

describeDrivers('a sweep over', PAIRS, sweepOverStores)

describe('a snapshot', () => {
  test('whose job is running loses no pack, however long the job takes', async () => {
    const all = inMemory()
    const snapshot = await makeSnapshot(repository, commitOf(1), ['a'])
    await snapshot.writePacks(all.stores.blobs)
    await all.sweep()
    all.clock.advance(23 * HOUR)
    await all.sweep()
    await snapshot.publish(all.stores.blobs)
    all.clock.advance(2 * HOUR)
    await all.sweep()
    expect(await textsOf(all, snapshot)).toEqual(['a'])
    expect(await all.stores.states.list('ctl/kept/')).toEqual([])
  })

  test('goes when it is 90 days old, though it was read on every day', async () => {
    const all = inMemory()
    const snapshot = await written(all, 1)
    for (let day = 0; day <= 90; day++) {
      await opened(all, repository)
      await all.sweep()
      expect(await textsOf(all, snapshot)).toEqual(snapshot.texts)
      all.clock.advance(DAY)
    }
    await all.sweep()
    expect(await textsOf(all, snapshot)).toBeNull()
  })

  test('that a job finds there is as old as it was', async () => {
    const all = inMemory()
    const snapshot = await written(all, 1)
    all.clock.advance(89 * DAY)
    await writeWhole(all.stores.blobs, snapshot)
    all.clock.advance(2 * DAY)
    expect(await all.sweep()).toMatchObject({ snapshots: { expired: 1 } })
  })

  test('that goes and is written again has its packs as before, also those that were noted', async () => {
    const all = inMemory()
    const snapshot = await written(all, 1)
    all.clock.advance(91 * DAY)
    expect(await all.sweep()).toMatchObject({ snapshots: { expired: 1 }, waitingPacks: 1 })
    await writeWhole(all.stores.blobs, snapshot)
    all.clock.advance(2 * DAY)
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 1, packs: 0, waitingPacks: 0 })
    expect(await textsOf(all, snapshot)).toEqual(snapshot.texts)
  })

  test('that cannot be parsed is removed, to be built again, and takes no pack with it', async () => {
    const all = inMemory()
    const { blobs } = all.stores
    const [damaged, whole] = [await written(all, 1), await written(all, 2)]
    const orphan = await makeSnapshot(repository, commitOf(3), ['dead job'])
    await orphan.writePacks(blobs)
    await all.sweep()
    all.clock.advance(DAY)
    await blobs.remove(headerKey(repository, damaged.commit))
    await blobs.create(headerKey(repository, damaged.commit), Buffer.from('no header'))
    expect(await all.sweep()).toMatchObject({ snapshots: { damaged: 1 }, unreadableHeaders: 1, packs: 0, keptSnapshots: 1 })
    await writeWhole(blobs, damaged)
    expect(await all.sweep()).toMatchObject({ unreadableHeaders: 0, packs: 1 })
    for (const snapshot of [damaged, whole]) expect(await textsOf(all, snapshot)).toEqual(snapshot.texts)
  })

  test('of another commit than its key is removed', async () => {
    const all = inMemory()
    const { blobs } = all.stores
    const snapshot = await written(all, 1)
    const bytes = (await blobs.read(headerKey(repository, snapshot.commit)))?.bytes ?? new Uint8Array()
    await blobs.create(headerKey(repository, commitOf(2)), bytes)
    await blobs.create(headerKey({ ...repository, id: 'test-other' } as HostRepository, snapshot.commit), bytes)
    expect(await all.sweep()).toMatchObject({ snapshots: { damaged: 2 }, keptSnapshots: 1 })
  })

  test('that was read damaged once and is whole stays', async () => {
    const all = inMemory()
    const snapshot = await written(all, 1)
    let reads = 0
    const { blobs } = all.stores
    const flaky = placeOver(
      {
        ...all.stores,
        blobs: {
          ...blobs,
          async read(key) {
            const found = await blobs.read(key)
            return found && reads++ === 0 ? { ...found, bytes: found.bytes.subarray(0, 20) } : found
          },
        },
      },
      all.clock,
    )
    expect(await flaky.sweep()).toMatchObject({ keptSnapshots: 1, unreadableHeaders: 0 })
    expect(await textsOf(all, snapshot)).toEqual(snapshot.texts)
  })

  test('whose pack is missing is removed', async () => {
    const all = inMemory()
    const snapshot = await written(all, 1)
    await all.stores.blobs.remove(packKey(repository, snapshot.header.packs[0]?.name ?? ''))
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 1 })
    all.clock.advance(2 * HOUR)
    expect(await all.sweep()).toMatchObject({ snapshots: { incomplete: 1 }, keptSnapshots: 0 })
  })

  test('of another version keeps its packs, and of an earlier one is removed a week after an upgrade', async () => {
    const all = inMemory()
    const { blobs } = all.stores
    const snapshot = await written(all, 1)
    const { header: keyOf } = keysAt(place)
    const bytes = (await blobs.read(headerKey(repository, snapshot.commit)))?.bytes ?? new Uint8Array()
    const [older, later] = ['r0f1s1', 'r999f1s1'].map(versions => ({ commit: snapshot.commit, versions }))
    if (!older || !later) throw new Error('no names')
    await blobs.remove(headerKey(repository, snapshot.commit))
    await blobs.create(keyOf(older), bytes)
    all.clock.advance(60 * DAY)
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 1, waitingPacks: 0 })
    await blobs.create(keyOf(later), bytes)
    all.clock.advance(7 * DAY)
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 2, waitingPacks: 0 })
    all.clock.advance(2 * DAY)
    expect(await all.sweep()).toMatchObject({ snapshots: { outdated: 1 }, keptSnapshots: 1, waitingPacks: 0 })
    all.clock.advance(90 * DAY)
    expect(await all.sweep()).toMatchObject({ snapshots: { expired: 1 }, keptSnapshots: 0, waitingPacks: 1 })
  })

  test('of a later version that cannot be parsed keeps all packs of its repository', async () => {
    const all = inMemory()
    const { blobs } = all.stores
    const orphan = await makeSnapshot(repository, commitOf(3), ['dead job'])
    await orphan.writePacks(blobs)
    await all.sweep()
    await blobs.create(keysAt(place).header({ commit: commitOf(1), versions: 'r999f1s1' }), Buffer.from('of another make'))
    all.clock.advance(2 * DAY)
    expect(await all.sweep()).toMatchObject({ unreadableHeaders: 1, keptSnapshots: 1, packs: 0 })
  })
})

describe('a repository that its host hides', () => {
  test('loses everything in the end, unless it is shown again', async () => {
    const all = inMemory()
    const snapshot = await written(all, 1)
    await list(all, snapshot)
    await hidden(all, repository)
    all.clock.advance(DAY)
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 1, entries: 0 })
    await opened(all, repository)
    all.clock.advance(2 * DAY)
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 1, entries: 0 })

    await hidden(all, repository)
    all.clock.advance(2 * DAY + 1)
    // The listing, and that it is hidden.
    expect(await all.sweep()).toMatchObject({ snapshots: { hidden: 1 }, keptSnapshots: 0, entries: 2 })
    all.clock.advance(DAY)
    await all.sweep()
    expect(await all.keys()).toEqual([])
  })
})

describe('outside the scope of a sweep', () => {
  test('an unknown key stays unchanged', async () => {
    const all = inMemory()
    const strange = ['probes/a', 'pub/x', 'pub/000/test-1/q/a', 'prv/000/test-1/p/short', 'media/a']
    for (const key of strange) await all.stores.blobs.create(key, Buffer.from('a'))
    const documents = ['ctl/person/000/a', 'ctl/kept/pub/000/test-1/other', queueKey(repository, commitOf(1)), 'ctl/owner/odd']
    for (const key of documents) await all.stores.states.create(key, 1)
    const before = await all.keys()
    all.clock.advance(1_000 * DAY)
    await all.sweep()
    expect(await all.keys()).toEqual(before)
  })

  test('waiting jobs keep their records', async () => {
    const all = inMemory()
    const record = { state: 'released', fence: 1, failures: 0 }
    await all.stores.states.create(jobKey(repository, commitOf(1)), record)
    await all.stores.states.create(queueKey(repository, commitOf(1)), {})
    await all.stores.states.create(jobKey(repository, commitOf(2)), record)
    expect(await all.sweep()).toMatchObject({ entries: 1 })
    expect(await all.stores.states.list('ctl/job/')).toEqual([jobKey(repository, commitOf(1))])
  })

  test('a private and a public repository of one id are two', async () => {
    const all = inMemory()
    const closed = { ...repository, visibility: 'private' } as const
    const open = await written(all, 1)
    all.clock.advance(91 * DAY)
    const secret = await written(all, 1, ['text 1'], undefined, closed)
    expect(await all.sweep()).toMatchObject({ snapshots: { expired: 1 }, keptSnapshots: 1, repositories: 2 })
    expect([await textsOf(all, open), await textsOf(all, secret)]).toEqual([null, ['text 1']])
  })
})

test('listings of a later version are left to that version', async () => {
  const all = inMemory()
  const versions = VERSIONS
  await all.stores.states.create(`ctl/owner/000/test-o/${versions}/test-1`, { odd: true })
  await all.stores.states.create('ctl/owner/000/test-o/r999f1s1/test-1', { odd: true })
  await all.sweep()
  expect(await all.keys()).toEqual(['ctl/owner/000/test-o/r999f1s1/test-1'])
})
