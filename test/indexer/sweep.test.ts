import { describe, expect, onTestFinished, test } from 'vitest'
import { createUses } from '#api/mount/uses.ts'
import { UNUSED_PACK_HOURS } from '#core/limits.ts'
import { createOwnerListings } from '#core/owner-listings.ts'
import type { DocStore } from '#core/ports/doc-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import {
  headerKey,
  jobKey,
  keysAt,
  lastIndexedKey,
  packKey,
  queueKey,
  readMarkKey,
  SWEEP_LEASE_KEY,
  splitKey,
  VERSIONS,
} from '#core/snapshot/keys.ts'
import type { Stores } from '#indexer/sweep/repositories.ts'
import { type SweepOptions, sweepStore } from '#indexer/sweep/sweep.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { createMemoryDocStore } from '#infra/memory/doc-store.ts'
import { makeSnapshot, readTexts, type SmallSnapshot, writeWhole } from '#test/support/small-snapshots.ts'
import { stepped } from '#test/support/stepped-stores.ts'
import { BLOB_STORE_DRIVERS, DOC_STORE_DRIVERS, temporaryFolder } from '#test/support/store-drivers.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const { repository } = jobOf(1)
const commitOf = (number: number) => jobOf(number * 7 + 1).commit
const place = splitKey(headerKey(repository, commitOf(1)))?.place ?? ''

/** A store with a clock that moves when told; objects are as old as they are written. */
interface Place {
  stores: Stores
  clock: ReturnType<typeof handClock>
  sweep(options?: Partial<SweepOptions>): ReturnType<typeof sweepStore>
  keys(): Promise<string[]>
}

function placeOver(stores: Stores, clock = handClock(new Date().toISOString())): Place {
  return {
    stores,
    clock,
    sweep: options => {
      const onFailure = (_: string, error: unknown) => {
        throw error
      }
      return sweepStore(stores, clock, { days: 90, remove: true, signal: new AbortController().signal, onFailure, ...options })
    },
    keys: async () => [...(await stores.blobs.list('')), ...(await stores.docs.list(''))].filter(key => key !== SWEEP_LEASE_KEY),
  }
}

function inMemory(clock = handClock()): Place {
  return placeOver({ blobs: createMemoryBlobStore(clock), docs: createMemoryDocStore() }, clock)
}

/** Somebody opens a snapshot, by a branch unless `ref` says otherwise. */
async function opened({ stores, clock }: Place, { repository, commit }: SmallSnapshot, ref: string | null = 'main') {
  const uses = createUses(stores.docs, clock, 0)
  const name = { host: repository.host, owner: repository.owner, repository: repository.name }
  uses.opened({ name, repository, commit, ref })
  await uses.written()
}

/** The snapshot number `number` of the repository, written whole. */
async function written({ stores }: Place, number: number, texts = [`text ${number}`], earlier?: SmallSnapshot, of = repository) {
  const snapshot = await makeSnapshot(of, commitOf(number), texts, earlier)
  await writeWhole(stores.blobs, snapshot)
  return snapshot
}

/** Lists a repository under its owner, at the commit of the snapshot. */
async function list({ stores }: Place, { repository, commit, header: { root } }: SmallSnapshot): Promise<void> {
  const folder = { ...root.folder, counts: { skills: 1, documents: 0 } }
  const owned = { ...repository, ownerId: 'test-owner' }
  await createOwnerListings(stores.docs).keep({ repository: owned, commit, header: { root: { ...root, folder } } })
}

const textsOf = ({ stores }: Place, snapshot: SmallSnapshot) => readTexts(stores.blobs, snapshot.repository, snapshot.commit)
const totalOf = (snapshots: object) => Object.values(snapshots).reduce((sum: number, number: number) => sum + number, 0)

const DRIVERS = BLOB_STORE_DRIVERS.flatMap(blobs => {
  const docs = DOC_STORE_DRIVERS.filter(
    ({ driver }) => driver === blobs.driver || (blobs.driver === 's3' && driver === 'postgres'),
  )
  return docs.map(one => ({
    name: blobs.driver === one.driver ? one.driver : `${blobs.driver} and ${one.driver}`,
    blobs,
    docs: one,
  }))
})

describe.each(DRIVERS)('a sweep over $name', ({ blobs, docs }) => {
  async function openPlace(): Promise<Place> {
    const [blobStore, docStore] = [await blobs.open(await temporaryFolder()), await docs.open(await temporaryFolder())]
    onTestFinished(async () => {
      await Promise.all([blobStore.close(), docStore.close()])
    })
    return placeOver({ blobs: blobStore, docs: docStore })
  }

  test('tells what would go, removes it, and its packs a day later, and leaves what is used', async () => {
    const all = await openPlace()
    const dead = await written(all, 1, ['kept', 'dropped'])
    const alive = await written(all, 2, ['new'], dead)
    const alone = await written(all, 3)
    await opened(all, dead, 'old')
    all.clock.advance(60 * DAY)
    await opened(all, alive)
    all.clock.advance(31 * DAY)
    const before = await all.keys()

    const told = await all.sweep({ remove: false })
    expect(await all.keys()).toEqual(before)
    const first = await all.sweep()
    expect(first).toEqual(told)
    expect(first).toMatchObject({ snapshots: { unread: 2 }, documents: 2, packs: 0, keptSnapshots: 1, waitingPacks: 1 })
    expect(await textsOf(all, dead)).toBeNull()
    expect(await textsOf(all, alone)).toBeNull()
    expect(await textsOf(all, alive)).toEqual(['dropped', 'kept', 'new'])

    all.clock.advance((UNUSED_PACK_HOURS - 1) * HOUR)
    expect(await all.sweep()).toMatchObject({ packs: 0, waitingPacks: 1 })
    all.clock.advance(HOUR)
    const [alonePack] = alone.header.packs
    expect(await all.sweep({ remove: false })).toMatchObject({ packs: 1, bytes: alonePack?.sizeBytes })
    expect(await all.sweep()).toMatchObject({ packs: 1, bytes: alonePack?.sizeBytes, documents: 0, waitingPacks: 0 })
    expect(await textsOf(all, alive)).toEqual(['dropped', 'kept', 'new'])

    const left = await all.keys()
    expect(await all.sweep()).toMatchObject({ packs: 0, documents: 0, bytes: 0, keptSnapshots: 1 })
    expect(await all.keys()).toEqual(left)
    expect(left.length).toBe(5)
    all.clock.advance(91 * DAY)
    await all.sweep()
    all.clock.advance(DAY)
    await all.sweep()
    expect(await all.keys()).toEqual([])
  })

  test('removes what a dead job left, and what stands beside nothing', async () => {
    const all = await openPlace()
    const never = await makeSnapshot(repository, commitOf(1), ['never published'])
    await never.writePacks(all.stores.blobs)
    await all.stores.docs.create(lastIndexedKey(repository), { commit: commitOf(1) })
    await all.stores.docs.create(jobKey(repository, commitOf(1)), { state: 'what no version knows' })
    await opened(all, never)
    expect(await all.sweep()).toMatchObject({ packs: 0, waitingPacks: 1, documents: 3 })
    all.clock.advance(DAY)
    expect(await all.sweep()).toMatchObject({ packs: 1, bytes: never.header.packs[0]?.sizeBytes })
    all.clock.advance(90 * DAY)
    await all.sweep()
    expect(await all.keys()).toEqual([])
  })
})

describe('a snapshot', () => {
  test('whose job is under way loses no pack, however long it takes until it is published', async () => {
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
    expect(await all.stores.docs.list('ctl/kept/')).toEqual([])
  })

  test('that was opened by its hash is kept as long as one that a branch led to', async () => {
    const all = inMemory()
    const snapshot = await written(all, 1)
    all.clock.advance(89 * DAY)
    await opened(all, snapshot, null)
    all.clock.advance(90 * DAY)
    await all.sweep()
    expect(await textsOf(all, snapshot)).toEqual(snapshot.texts)
    all.clock.advance(2 * DAY)
    await all.sweep()
    expect(await textsOf(all, snapshot)).toBeNull()
  })

  test('that cannot be read goes, so that it is built anew, and takes no pack with it', async () => {
    const all = inMemory()
    const { blobs } = all.stores
    const [damaged, whole] = [await written(all, 1), await written(all, 2)]
    const orphan = await makeSnapshot(repository, commitOf(3), ['dead job'])
    await orphan.writePacks(blobs)
    await all.sweep()
    all.clock.advance(DAY)
    await blobs.remove(headerKey(repository, damaged.commit))
    await blobs.create(headerKey(repository, damaged.commit), Buffer.from('no header'))
    expect(await all.sweep()).toMatchObject({ snapshots: { damaged: 1 }, opaque: 1, packs: 0, keptSnapshots: 1 })
    await writeWhole(blobs, damaged)
    expect(await all.sweep()).toMatchObject({ opaque: 0, packs: 1 })
    for (const snapshot of [damaged, whole]) expect(await textsOf(all, snapshot)).toEqual(snapshot.texts)
  })

  test('that is of another commit than its key says goes', async () => {
    const all = inMemory()
    const { blobs } = all.stores
    const snapshot = await written(all, 1)
    const bytes = (await blobs.read(headerKey(repository, snapshot.commit)))?.bytes ?? new Uint8Array()
    await blobs.create(headerKey(repository, commitOf(2)), bytes)
    await blobs.create(headerKey({ ...repository, id: 'test-other' } as HostRepository, snapshot.commit), bytes)
    expect(await all.sweep()).toMatchObject({ snapshots: { damaged: 2 }, keptSnapshots: 1 })
  })

  test('that came damaged once and lies whole stays', async () => {
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
    expect(await flaky.sweep()).toMatchObject({ keptSnapshots: 1, opaque: 0 })
    expect(await textsOf(all, snapshot)).toEqual(snapshot.texts)
  })

  test('whose pack is gone goes', async () => {
    const all = inMemory()
    const snapshot = await written(all, 1)
    await all.stores.blobs.remove(packKey(repository, snapshot.header.packs[0]?.name ?? ''))
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 1 })
    all.clock.advance(2 * HOUR)
    expect(await all.sweep()).toMatchObject({ snapshots: { incomplete: 1 }, keptSnapshots: 0 })
  })

  test('of another version keeps its packs, and goes as its readers go', async () => {
    const all = inMemory()
    const { blobs, docs } = all.stores
    const snapshot = await written(all, 1)
    const { header: keyOf } = keysAt(place)
    const bytes = (await blobs.read(headerKey(repository, snapshot.commit)))?.bytes ?? new Uint8Array()
    const [older, later] = ['r0f1s1', 'r999f1s1'].map(versions => ({ commit: snapshot.commit, versions }))
    if (!older || !later) throw new Error('no names')
    for (const name of [older, later]) await blobs.create(keyOf(name), bytes)
    await blobs.remove(headerKey(repository, snapshot.commit))
    await docs.create(keysAt(place).readMark(older), { day: all.clock.now().toISOString().slice(0, 10) })

    all.clock.advance(7 * DAY)
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 2, waitingPacks: 0 })
    all.clock.advance(2 * DAY)
    expect(await all.sweep()).toMatchObject({ snapshots: { outdated: 1 }, keptSnapshots: 1, waitingPacks: 0 })
    all.clock.advance(90 * DAY)
    expect(await all.sweep()).toMatchObject({ snapshots: { unread: 1 }, keptSnapshots: 0, waitingPacks: 1 })
  })

  test('of a later version that cannot be read here keeps all packs of its repository', async () => {
    const all = inMemory()
    const { blobs } = all.stores
    const orphan = await makeSnapshot(repository, commitOf(3), ['dead job'])
    await orphan.writePacks(blobs)
    await all.sweep()
    await blobs.create(keysAt(place).header({ commit: commitOf(1), versions: 'r999f1s1' }), Buffer.from('of another make'))
    all.clock.advance(2 * DAY)
    expect(await all.sweep()).toMatchObject({ opaque: 1, keptSnapshots: 1, packs: 0 })
  })
})

describe('a repository that its host hides', () => {
  test('loses everything in the end, unless it is shown again', async () => {
    const all = inMemory()
    const snapshot = await written(all, 1)
    await list(all, snapshot)
    const uses = createUses(all.stores.docs, all.clock, 0)
    uses.hidden(repository.id)
    await uses.written()
    all.clock.advance(DAY)
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 1, documents: 0 })
    await opened(all, snapshot)
    all.clock.advance(2 * DAY)
    expect(await all.sweep()).toMatchObject({ keptSnapshots: 1, documents: 1 })

    const later = createUses(all.stores.docs, all.clock, 0)
    later.hidden(repository.id)
    await later.written()
    all.clock.advance(2 * DAY + 1)
    // The listing, the ref, the mark, and that it is hidden.
    expect(await all.sweep()).toMatchObject({ snapshots: { hidden: 1 }, keptSnapshots: 0, documents: 4 })
    all.clock.advance(DAY)
    await all.sweep()
    expect(await all.keys()).toEqual([])
  })
})

describe('what is none of its business', () => {
  test('stays as it is', async () => {
    const all = inMemory()
    const strange = ['probe/a', 'pub/x', 'pub/000/test-1/q/a', 'prv/000/test-1/p/short', 'media/a']
    for (const key of strange) await all.stores.blobs.create(key, Buffer.from('a'))
    const documents = ['ctl/person/000/a', 'ctl/kept/pub/000/test-1/other', queueKey(repository, commitOf(1)), 'ctl/owner/odd']
    for (const key of documents) await all.stores.docs.create(key, 1)
    const before = await all.keys()
    all.clock.advance(1_000 * DAY)
    await all.sweep()
    expect(await all.keys()).toEqual(before)
  })

  test('jobs that wait keep their records', async () => {
    const all = inMemory()
    const record = { state: 'released', fence: 1, failures: 0 }
    await all.stores.docs.create(jobKey(repository, commitOf(1)), record)
    await all.stores.docs.create(queueKey(repository, commitOf(1)), {})
    await all.stores.docs.create(jobKey(repository, commitOf(2)), record)
    expect(await all.sweep()).toMatchObject({ documents: 1 })
    expect(await all.stores.docs.list('ctl/job/')).toEqual([jobKey(repository, commitOf(1))])
  })

  test('private and public repositories of one id are two', async () => {
    const all = inMemory()
    const hidden = { ...repository, visibility: 'private' } as const
    const open = await written(all, 1)
    all.clock.advance(91 * DAY)
    const secret = await written(all, 1, ['text 1'], undefined, hidden)
    expect(await all.sweep()).toMatchObject({ snapshots: { unread: 1 }, keptSnapshots: 1, repositories: 2 })
    expect([await textsOf(all, open), await textsOf(all, secret)]).toEqual([null, ['text 1']])
  })
})

/** The same place, told of every step that a sweep takes before it is taken. */
function steppedPlace({ stores, clock }: Place, before: (step: number) => Promise<void>): Place & { steps(): number } {
  const watched = stepped(stores, before)
  return { ...placeOver(watched.stores, clock), steps: watched.steps }
}

/** A snapshot that goes, one that stays and shares a pack with it, and a pack that is due. */
async function mixed(): Promise<{ all: Place; alive: SmallSnapshot; dead: SmallSnapshot; due: SmallSnapshot }> {
  const all = inMemory()
  const due = await makeSnapshot(repository, commitOf(9), ['due'])
  await due.writePacks(all.stores.blobs)
  const dead = await written(all, 1, ['shared'])
  const alive = await written(all, 2, ['new'], dead)
  await written(all, 3, ['alone'])
  all.clock.advance(89 * DAY)
  await opened(all, alive)
  await all.sweep()
  all.clock.advance(2 * DAY)
  return { all, alive, dead, due }
}

describe('a sweep that is killed', () => {
  test('at any step leaves what is used whole, and the next one goes on', async () => {
    const reference = await mixed()
    const counting = steppedPlace(reference.all, async () => {})
    await counting.sweep()
    reference.all.clock.advance(DAY)
    await reference.all.sweep()
    const expected = await reference.all.keys()
    expect(counting.steps()).toBeGreaterThan(25)

    for (let last = 0; last < counting.steps() - 1; last++) {
      const { all, alive, dead } = await mixed()
      const killed = steppedPlace(all, async step => {
        if (step >= last) throw new Error('killed')
      })
      await expect(killed.sweep({ onFailure() {} })).rejects.toThrow('killed')
      expect(await textsOf(all, alive)).toEqual(alive.texts)
      const texts = await textsOf(all, dead)
      if (texts !== null) expect(texts).toEqual(dead.texts)
      // Its lease runs out.
      all.clock.advance(DAY)
      await all.sweep()
      all.clock.advance(DAY)
      await all.sweep()
      expect(await textsOf(all, alive)).toEqual(alive.texts)
      expect(await all.keys()).toEqual(expected)
    }
  })
})

describe('a job that goes on from packs that a sweep is about to remove', () => {
  /** What a job does, each step at a step of the sweep. */
  const steps = (snapshot: SmallSnapshot, { stores: { blobs } }: Place) => [
    () => snapshot.writePacks(blobs),
    () => snapshot.publish(blobs),
    () => snapshot.lookAgain(blobs),
  ]

  /** A snapshot of the pack that is due, and of one of its own. */
  const reusing = (due: SmallSnapshot) => makeSnapshot(repository, commitOf(8), ['its own'], due)

  test('has a snapshot that reads right, or none, whenever it writes, publishes and looks again', async () => {
    const counting = steppedPlace((await mixed()).all, async () => {})
    await counting.sweep()
    const outcomes = { whole: 0, none: 0 }
    for (let write = 0; write < counting.steps(); write += 8) {
      for (let publish = write; publish <= counting.steps(); publish++) {
        for (let look = publish; look <= Math.min(counting.steps(), publish + 6); look++) {
          const { all, alive, due } = await mixed()
          const snapshot = await reusing(due)
          const [first, second, third] = steps(snapshot, all)
          const beside = steppedPlace(all, async step => {
            if (step === write) await first?.()
            if (step === publish) await second?.()
            if (step === look) await third?.()
          })
          await beside.sweep()
          if (publish >= beside.steps()) await second?.()
          if (look >= beside.steps()) await third?.()
          const texts = await textsOf(all, snapshot)
          if (texts === null) outcomes.none++
          else outcomes.whole++
          expect(texts, `write ${write}, publish ${publish}, look ${look}`).toEqual(texts && ['due', 'its own'])
          expect(await textsOf(all, alive)).toEqual(alive.texts)
          // The next visitor has it built again.
          await writeWhole(all.stores.blobs, snapshot)
          all.clock.advance(DAY)
          await all.sweep()
          expect(await textsOf(all, snapshot)).toEqual(['due', 'its own'])
        }
      }
    }
    expect(outcomes.whole).toBeGreaterThan(outcomes.none)
    expect(outcomes.none).toBeGreaterThan(0)
  })

  test('and dies before it looks again has its snapshot built anew', async () => {
    const counting = steppedPlace((await mixed()).all, async () => {})
    await counting.sweep()
    let repaired = 0
    for (let publish = 0; publish <= counting.steps(); publish++) {
      const { all, due } = await mixed()
      const snapshot = await reusing(due)
      const [first, second] = steps(snapshot, all)
      const beside = steppedPlace(all, async step => {
        if (step === 0) await first?.()
        if (step === publish) await second?.()
      })
      await beside.sweep()
      if (publish >= beside.steps()) await second?.()
      all.clock.advance(DAY)
      await all.sweep()
      const texts = await textsOf(all, snapshot)
      expect(texts).toEqual(texts && ['due', 'its own'])
      if (texts === null) repaired++
    }
    expect(repaired).toBeGreaterThan(0)
  })
})

describe('a second sweep', () => {
  const leaseOf = async (docs: DocStore) => (await docs.read(SWEEP_LEASE_KEY))?.value as Record<string, unknown>

  test('does nothing while one is running, and telling what would go needs no turn', async () => {
    const { all } = await mixed()
    let inside = 0
    const first = steppedPlace(all, async step => {
      if (step !== 10) return
      inside++
      await expect(all.sweep()).rejects.toThrow('another sweep of this store is running')
      await all.sweep({ remove: false })
    })
    await first.sweep()
    expect(inside).toBe(1)
    await all.sweep()
  })

  test('begins when the first one does not go on, which then stops', async () => {
    const { all, alive } = await mixed()
    let value: Record<string, unknown> = {}
    const first = steppedPlace(all, async step => {
      if (step !== 10) return
      value = await leaseOf(all.stores.docs)
      all.clock.advance(HOUR)
      await all.sweep()
    })
    await first.sweep()
    expect(value).toMatchObject({ process: process.pid })
    expect(await textsOf(all, alive)).toEqual(alive.texts)
  })

  test('begins at once after one that was killed on this machine, or whose lease cannot be read', async () => {
    const { all } = await mixed()
    await all.sweep()
    for (const odd of [{ ...(await leaseOf(all.stores.docs)), process: 4_194_303, until: '2999-01-01T00:00:00.000Z' }, 'odd']) {
      await all.stores.docs.remove(SWEEP_LEASE_KEY)
      await all.stores.docs.create(SWEEP_LEASE_KEY, odd)
      await all.sweep()
    }
  })
})

describe('a store that fails', () => {
  test('for one repository is told of, and the others are swept', async () => {
    const all = inMemory()
    for (let id = 0; id < 5; id++) await written(all, 1, ['text'], undefined, { ...repository, id: `test-${id}` })
    all.clock.advance(91 * DAY)
    const { blobs } = all.stores
    const broken = headerKey({ ...repository, id: 'test-3' }, commitOf(1))
    const failing = placeOver(
      { ...all.stores, blobs: { ...blobs, read: key => (key === broken ? Promise.reject(new Error('no')) : blobs.read(key)) } },
      all.clock,
    )
    const failures: string[] = []
    const tally = await failing.sweep({ onFailure: failed => failures.push(failed) })
    expect(tally).toMatchObject({ failures: 1, snapshots: { unread: 4 } })
    expect(failures).toEqual([splitKey(broken)?.place])
  })

  test('again and again ends the sweep', async () => {
    const all = inMemory()
    for (let id = 0; id < 50; id++) await written(all, 1, ['text'], undefined, { ...repository, id: `test-${id}` })
    let reads = 0
    const blobs = {
      ...all.stores.blobs,
      async read(): Promise<never> {
        reads++
        throw new Error('no store')
      },
    }
    await expect(placeOver({ ...all.stores, blobs }, all.clock).sweep({ onFailure() {} })).rejects.toThrow('no store')
    expect(reads).toBeLessThan(30)
  })

  test('or a sweep that is told to stop leaves its turn to the next', async () => {
    const { all } = await mixed()
    const stop = new AbortController()
    stop.abort(new Error('interrupted'))
    await expect(all.sweep({ signal: stop.signal })).rejects.toThrow('interrupted')
    expect(totalOf((await all.sweep()).snapshots)).toBeGreaterThan(0)
  })
})

test('a listing that is written anew while the sweep looks at it stays', async () => {
  const all = inMemory()
  const [gone, fresh] = [await written(all, 1), await written(all, 2)]
  await list(all, gone)
  await all.stores.blobs.remove(headerKey(repository, gone.commit))
  const { blobs } = all.stores
  const whileLooking = placeOver(
    {
      ...all.stores,
      blobs: {
        ...blobs,
        async readRange(key, ...range) {
          if (key === headerKey(repository, gone.commit)) await list(all, fresh)
          return blobs.readRange(key, ...range)
        },
      },
    },
    all.clock,
  )
  expect(await whileLooking.sweep()).toMatchObject({ documents: 0 })
  expect(await createOwnerListings(all.stores.docs).of('test-owner')).toMatchObject([{ commit: fresh.commit }])
})

test('what a listing of a later version says is left to that version', async () => {
  const all = inMemory()
  const versions = VERSIONS
  await all.stores.docs.create(`ctl/owner/000/test-o/${versions}/test-1`, { odd: true })
  await all.stores.docs.create('ctl/owner/000/test-o/r999f1s1/test-1', { odd: true })
  await all.sweep()
  expect(await all.keys()).toEqual(['ctl/owner/000/test-o/r999f1s1/test-1'])
})

test('marks of a day are read as its end', async () => {
  const all = inMemory(handClock('2026-03-01T23:00:00.000Z'))
  const snapshot = await written(all, 1)
  await all.stores.docs.create(readMarkKey(repository, snapshot.commit), { day: '2026-03-01' })
  all.clock.advance(90 * DAY)
  expect(await all.sweep()).toMatchObject({ keptSnapshots: 1 })
  all.clock.advance(HOUR + 1)
  expect(await all.sweep()).toMatchObject({ keptSnapshots: 0 })
})
