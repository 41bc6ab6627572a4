import { forEachOf } from '#core/concurrency/map-few.ts'
import type { Clock } from '#core/ports/system.ts'
import { carryOut, countOnly } from './carry-out.ts'
import { takeLease } from './lease.ts'
import { sweepListings } from './listings.ts'
import { type StoredRepository, type Stores, storedRepositories } from './repositories.ts'
import { readState } from './state.ts'
import { planRepository } from './sweep-plan.ts'
import { emptyTally, type Tally } from './sweep-tally.ts'

export interface SweepOptions {
  /** See `planRepository`. */
  days: number
  /** Else it is only counted. */
  remove: boolean
  signal: AbortSignal
  /** Told of a repository that could not be swept. */
  onFailure(place: string, error: unknown): void
}

/** Somebody else sweeps the store. */
export class SweepBusyError extends Error {}

/** Repositories at once. */
const AT_ONCE = 8
/** A store that fails so often does not answer. */
const FAILURES = 10

/**
 * Goes through a store once and removes what nobody uses any more. It may be broken off at any moment, and run again; other processes may
 * read and index meanwhile.
 *
 * @throws SweepBusyError; the reason of `signal`; whatever a store throws again and again
 */
export async function sweepStore(stores: Stores, clock: Clock, options: SweepOptions): Promise<Tally> {
  const lease = options.remove ? await takeLease(stores.states, clock) : null
  if (options.remove && lease === null) throw new SweepBusyError('another sweep of this store is running')
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
      if (tally.failures >= FAILURES) throw error
      options.onFailure(repository.place, error)
    }
  })
  await sweepListings(stores, clock.now(), options, tally)
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
  if (remove) await carryOut(stores, repository.place, state, plan, tally)
  else await countOnly(stores.blobs, repository.place, plan, tally)
}
