import { forEachOf } from '#core/concurrency/map-few.ts'
import type { Clock } from '#core/ports/system.ts'
import { SentenceError, sentence } from '#core/words/sentence.ts'
import { countPlan, executePlan } from './execute-plan.ts'
import { sweepExpired } from './expired-entries.ts'
import { takeLease } from './lease.ts'
import { sweepListings } from './listings.ts'
import { sweepOperatorBlobs } from './operator-blobs.ts'
import { sweepProbes } from './probes.ts'
import { type StoredRepository, type Stores, storedRepositories } from './repositories.ts'
import { readState } from './state.ts'
import { planRepository } from './sweep-plan.ts'
import { emptyTally, type Tally } from './sweep-tally.ts'

export interface SweepOptions {
  /** See `planRepository`. */
  days: number
  /** Without it a sweep only counts. */
  remove: boolean
  signal: AbortSignal
  /** Called for each repository that failed. */
  onFailure(place: string, error: unknown): void
}

/** Another sweep of the store is running. */
export class SweepBusyError extends SentenceError {}

/** Repositories at once. */
const AT_ONCE = 8
/** After this many failed repositories the sweep stops: the store is down. */
const MAX_FAILURES = 10

/**
 * Goes through a store once and removes unused data. It may be interrupted at any moment and run again; other processes may read and index
 * meanwhile.
 *
 * @throws SweepBusyError, the reason of `signal`, or the last error of a store that keeps failing
 */
export async function sweepStore(stores: Stores, clock: Clock, options: SweepOptions): Promise<Tally> {
  const lease = options.remove ? await takeLease(stores.states, clock) : null
  if (options.remove && lease === null) throw new SweepBusyError(sentence('sweepBusy'))
  try {
    const signal = lease === null ? options.signal : AbortSignal.any([options.signal, lease.lost])
    return await sweepAll(stores, clock, { ...options, signal })
  } finally {
    await lease?.release()
  }
}

async function sweepAll(stores: Stores, clock: Clock, options: SweepOptions): Promise<Tally> {
  const { signal } = options
  const tally = emptyTally()
  await forEachOf(storedRepositories(stores), AT_ONCE, async repository => {
    signal.throwIfAborted()
    try {
      await sweepRepository(stores, repository, clock, options, tally)
    } catch (error) {
      tally.failures++
      if (tally.failures >= MAX_FAILURES) throw error
      options.onFailure(repository.place, error)
    }
  })
  await sweepListings(stores, clock.now(), options, tally)
  await sweepExpired(stores, clock.now(), options, tally)
  await sweepOperatorBlobs(stores, clock.now(), options, tally)
  await sweepProbes(stores, clock.now(), options, tally)
  return tally
}

async function sweepRepository(
  stores: Stores,
  repository: StoredRepository,
  clock: Clock,
  { days, remove }: SweepOptions,
  tally: Tally,
): Promise<void> {
  const now = clock.now()
  const state = await readState(stores, repository, now, days)
  const plan = planRepository(state, now, days)
  tally.repositories++
  if (remove) await executePlan(stores, repository.place, state, plan, tally)
  else await countPlan(stores.blobs, repository.place, plan, tally)
}
