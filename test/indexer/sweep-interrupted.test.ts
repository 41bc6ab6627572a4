import { describe, expect, test } from 'vitest'
import { createOwnerListings } from '#core/owner-listings.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { headerKey, lastIndexedKey, SWEEP_LEASE_KEY, splitKey } from '#core/snapshot/store-keys.ts'
import { makeSnapshot, type SmallSnapshot, writeWhole } from '#test/support/small-snapshots.ts'
import { stepped } from '#test/support/stepped-stores.ts'
import {
  commitOf,
  DAY,
  HOUR,
  inMemory,
  list,
  type Place,
  placeOver,
  repository,
  textsOf,
  totalOf,
  written,
} from '#test/support/sweep-places.ts'

/** The same place, told of every step that a sweep takes before it is taken. */
function steppedPlace({ stores, clock }: Place, before: (step: number) => Promise<void>): Place & { steps(): number } {
  const watched = stepped(stores, before)
  return { ...placeOver(watched.stores, clock), steps: watched.steps }
}

/** Made once: hundreds of stores hold them. */
const made = makeMixed()

async function makeMixed() {
  const due = await makeSnapshot(repository, commitOf(9), ['due'])
  const dead = await makeSnapshot(repository, commitOf(1), ['shared'])
  const alive = await makeSnapshot(repository, commitOf(2), ['new'], dead)
  const alone = await makeSnapshot(repository, commitOf(3), ['alone'])
  // Of the pack that is due, and of one of its own.
  const reusing = await makeSnapshot(repository, commitOf(8), ['its own'], due)
  return { due, dead, alive, alone, reusing }
}

/** A store with a snapshot that goes, one that stays and shares a pack with it, and a pack that is due. */
async function mixed(): Promise<Awaited<typeof made> & { all: Place }> {
  const all = inMemory()
  const snapshots = await made
  const { due, dead, alive, alone } = snapshots
  await due.writePacks(all.stores.blobs)
  for (const snapshot of [dead, alone]) await writeWhole(all.stores.blobs, snapshot)
  await all.stores.states.create(lastIndexedKey(repository), { commit: dead.commit })
  all.clock.advance(89 * DAY)
  await writeWhole(all.stores.blobs, alive)
  await all.sweep()
  all.clock.advance(2 * DAY)
  return { all, ...snapshots }
}

describe('a sweep that is killed', () => {
  test('at any step leaves used objects whole, and the next one continues', async () => {
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

describe('a job that builds on packs that a sweep is about to remove', () => {
  /** What a job does, each step at a step of the sweep. */
  const steps = (snapshot: SmallSnapshot, { stores: { blobs } }: Place) => [
    () => snapshot.writePacks(blobs),
    () => snapshot.publish(blobs),
    () => snapshot.lookAgain(blobs),
  ]

  test('has a whole snapshot, or none, whenever it writes, publishes and checks again', async () => {
    const counting = steppedPlace((await mixed()).all, async () => {})
    await counting.sweep()
    const outcomes = { whole: 0, none: 0 }
    for (let write = 0; write < counting.steps(); write += 8) {
      for (let publish = write; publish <= counting.steps(); publish++) {
        for (let look = publish; look <= Math.min(counting.steps(), publish + 6); look++) {
          const { all, alive, reusing: snapshot } = await mixed()
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

  test('and dies before it checks again has its snapshot built again', async () => {
    const counting = steppedPlace((await mixed()).all, async () => {})
    await counting.sweep()
    let repaired = 0
    for (let publish = 0; publish <= counting.steps(); publish++) {
      const { all, reusing: snapshot } = await mixed()
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
  const leaseOf = async (states: StateStore) => (await states.read(SWEEP_LEASE_KEY))?.value as Record<string, unknown>

  test('does nothing while one is running, and a dry run needs no turn', async () => {
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
      value = await leaseOf(all.stores.states)
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
    for (const odd of [{ ...(await leaseOf(all.stores.states)), process: 4_194_303, until: '2999-01-01T00:00:00.000Z' }, 'odd']) {
      await all.stores.states.remove(SWEEP_LEASE_KEY)
      await all.stores.states.create(SWEEP_LEASE_KEY, odd)
      await all.sweep()
    }
  })
})

describe('a store that fails', () => {
  test('for one repository is reported, and the others are swept', async () => {
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
    expect(tally).toMatchObject({ failures: 1, snapshots: { expired: 4 } })
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

  test('or a sweep that is stopped leaves its turn to the next', async () => {
    const { all } = await mixed()
    const stop = new AbortController()
    stop.abort(new Error('interrupted'))
    await expect(all.sweep({ signal: stop.signal })).rejects.toThrow('interrupted')
    expect(totalOf((await all.sweep()).snapshots)).toBeGreaterThan(0)
  })
})

test('a listing that is rewritten while the sweep reads it stays', async () => {
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
  expect(await whileLooking.sweep()).toMatchObject({ entries: 0 })
  expect(await createOwnerListings(all.stores.states).of('test-owner')).toMatchObject([{ commit: fresh.commit }])
})
