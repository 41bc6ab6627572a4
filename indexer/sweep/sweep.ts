import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { z } from 'zod'
import { forEachOf, mapFew } from '#core/concurrency/map-few.ts'
import { LEASE_SECONDS } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { keysAt, SWEEP_LEASE_KEY, splitKey } from '#core/snapshot/store-keys.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import { sweepExpired, sweepListings, sweepProbes } from './expired-entries.ts'
import { sweepOperatorBlobs } from './operator-blobs.ts'
import { type StoredRepository, type Stores, storedRepositories } from './repositories.ts'
import { exists, readState, readStoredHeader, writeUnusedPacks } from './state.ts'
import { planRepository, type RepositoryPlan, type RepositoryState, type UnusedPacks } from './sweep-plan.ts'
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
 * Goes through a store once and removes old and unused data. It may be interrupted at any moment and run again; other processes may read and index
 * meanwhile.
 *
 * @throws SweepBusyError, the reason of `signal`, or the last error of a store that keeps failing
 */
export async function sweepStore(stores: Stores, clock: Clock, options: SweepOptions): Promise<Tally> {
  const lease = options.remove ? await takeLease(stores.states, clock) : null
  if (options.remove && lease === null) throw new SweepBusyError(t('problem.sweepBusy'))
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
  const state = await readState(stores, repository)
  const plan = planRepository(state, now, days)
  tally.repositories++
  if (remove) await executePlan(stores, repository.place, state, plan, tally)
  else await countPlan(stores.blobs, repository.place, plan, tally)
}

/**
 * Removes what a plan lists. The order allows an interruption anywhere: a header goes first, since a snapshot is ready as long as its header
 * exists; the next sweep finds the rest.
 */
async function executePlan(
  stores: Stores,
  place: string,
  state: RepositoryState & { unusedEtag: string | null },
  plan: RepositoryPlan,
  tally: Tally,
): Promise<void> {
  const { blobs, states } = stores
  const at = keysAt(place)
  // Repositories are swept concurrently and share the tally, so no value is added across an `await`.
  await mapFew(plan.headers, async ({ header, reason }) => {
    await blobs.remove(header.key)
    tally.snapshots[reason]++
    tally.bytes += header.sizeBytes
  })
  await mapFew(plan.entries, async key => {
    await states.remove(key)
    tally.entries++
  })
  const waiting = plan.packs.length === 0 ? plan.unusedPacks : await removePacks(blobs, place, state, plan, tally)
  if (!isSame(waiting, state.unusedPacks)) await writeUnusedPacks(states, at.unusedPacks, waiting, state.unusedEtag)
  countWaiting(waiting, tally)
  if (plan.hiddenEntry !== null) {
    await states.remove(plan.hiddenEntry)
    tally.entries++
  }
  tally.keptSnapshots += plan.keptHeaders
  if (plan.hasUnreadableHeader) tally.unreadableHeaders++
}

/** Counts what `executePlan` would remove. */
async function countPlan(blobs: BlobStore, place: string, plan: RepositoryPlan, tally: Tally): Promise<void> {
  for (const { header, reason } of plan.headers) {
    tally.snapshots[reason]++
    tally.bytes += header.sizeBytes
  }
  const sizes = await mapFew(
    plan.packs,
    async ({ name, sizeBytes }) => sizeBytes ?? (await sizeOf(blobs, keysAt(place).pack(name))),
  )
  tally.bytes += sizes.reduce((sum, sizeBytes) => sum + sizeBytes, 0)
  tally.packs += plan.packs.length
  tally.entries += plan.entries.length + (plan.hiddenEntry === null ? 0 : 1)
  countWaiting(plan.unusedPacks, tally)
  tally.keptSnapshots += plan.keptHeaders
  if (plan.hasUnreadableHeader) tally.unreadableHeaders++
}

/**
 * Removes packs that were unused a day ago and still are. A job may publish a header that lists one of them at any time:
 *
 * - before the headers are listed here: the pack stays;
 * - between the two listings: the second one finds the header and removes it, so the snapshot is built again;
 * - later: the pack is gone already, and the job finds that when it checks its packs after publishing.
 *
 * After an interruption in between, the next sweep finds a header whose packs are gone.
 *
 * @returns the unused packs that wait for a later sweep
 */
async function removePacks(
  blobs: BlobStore,
  place: string,
  state: RepositoryState,
  plan: RepositoryPlan,
  tally: Tally,
): Promise<UnusedPacks> {
  const at = keysAt(place)
  const seen = new Set(state.headers.map(({ key }) => key))
  const publishedBefore = await readNewHeaders(blobs, place, seen)
  // A header that cannot be read may list any of these packs.
  if (publishedBefore === null) return new Map([...plan.unusedPacks, ...notedOf(plan, state)])
  const used = new Set(publishedBefore.flatMap(({ packs }) => packs))
  const removed = new Set<string>()
  for (const { name, sizeBytes } of plan.packs) {
    if (used.has(name)) continue
    const key = at.pack(name)
    const bytes = sizeBytes ?? (await sizeOf(blobs, key))
    await blobs.remove(key)
    removed.add(name)
    tally.packs++
    tally.bytes += bytes
  }

  for (const { key } of publishedBefore) seen.add(key)
  for (const { key, packs } of (await readNewHeaders(blobs, place, seen)) ?? []) {
    const lost = packs.filter(name => removed.has(name))
    const stillExist = await mapFew(lost, name => exists(blobs, at.pack(name)))
    if (!stillExist.includes(false)) continue
    await blobs.remove(key)
    tally.snapshots.incomplete++
  }
  return plan.unusedPacks
}

function notedOf(
  plan: RepositoryPlan,
  { unusedPacks }: RepositoryState,
): [string, NonNullable<ReturnType<UnusedPacks['get']>>][] {
  return plan.packs.flatMap(({ name }) => {
    const noted = unusedPacks.get(name)
    return noted ? [[name, noted]] : []
  })
}

/** Headers whose keys are not in `before`, with the names of their packs; `null` when one of them cannot be read. */
async function readNewHeaders(
  blobs: BlobStore,
  place: string,
  before: ReadonlySet<string>,
): Promise<{ key: string; packs: string[] }[] | null> {
  const keys = (await blobs.list(keysAt(place).headers)).filter(key => !before.has(key))
  const headers = await mapFew(keys, async key => {
    const part = splitKey(key)?.part
    return part?.kind === 'header' ? await readStoredHeader(blobs, place, part.snapshot) : null
  })
  const found = headers.filter(header => header !== null)
  if (found.some(({ content }) => typeof content === 'string')) return null
  return found.map(({ key, content }) => ({ key, packs: typeof content === 'string' ? [] : content.map(({ name }) => name) }))
}

async function sizeOf(blobs: BlobStore, key: string): Promise<number> {
  return (await blobs.read(key))?.bytes.length ?? 0
}

function countWaiting(packs: UnusedPacks, tally: Tally): void {
  tally.waitingPacks += packs.size
  for (const { sizeBytes } of packs.values()) tally.waitingBytes += sizeBytes ?? 0
}

function isSame(left: UnusedPacks, right: UnusedPacks): boolean {
  const same = ([name, { since, sizeBytes }]: [string, { since: Date; sizeBytes: number | null }]) => {
    const other = right.get(name)
    return other?.since.getTime() === since.getTime() && other.sizeBytes === sizeBytes
  }
  return left.size === right.size && [...left].every(same)
}

/** The holder of the sweep lease. Two sweeps at once do no harm and do everything twice. */
const SweepLease = z.object({ machine: z.string(), process: z.int(), id: z.string(), until: z.iso.datetime() })
type SweepLease = z.infer<typeof SweepLease>

interface HeldLease {
  /** Aborted when another sweep has taken the lease. */
  lost: AbortSignal
  release(): Promise<void>
}

/** Takes the lease and renews it until it is released; `null` while another sweep holds it. */
async function takeLease(states: StateStore, clock: Clock): Promise<HeldLease | null> {
  const id = randomUUID()
  const lost = new AbortController()
  const valueUntil = (milliseconds: number): SweepLease => {
    const until = new Date(clock.now().getTime() + milliseconds).toISOString()
    return { machine: hostname(), process: process.pid, id, until }
  }

  const stored = await states.read(SWEEP_LEASE_KEY)
  const before = SweepLease.safeParse(stored?.value).data
  if (before && Date.parse(before.until) > clock.now().getTime() && !isDead(before)) return null
  const lease = valueUntil(LEASE_SECONDS * 1000)
  const taken = stored ? await states.replace(SWEEP_LEASE_KEY, lease, stored.etag) : await states.create(SWEEP_LEASE_KEY, lease)
  if (taken.status === 'conflict') return null

  let { etag } = taken
  const write = async (milliseconds: number) => {
    const written = await states.replace(SWEEP_LEASE_KEY, valueUntil(milliseconds), etag)
    if (written.status === 'written') etag = written.etag
    else lost.abort(new Error('another sweep has taken the lease'))
  }
  let renewing: Promise<void> = Promise.resolve()
  const timer = setInterval(
    () => {
      // A store error is retried at the next renewal; only a lost lease is final.
      renewing = renewing.then(() => write(LEASE_SECONDS * 1000)).catch(() => {})
    },
    (LEASE_SECONDS * 1000) / 3,
  )
  return {
    lost: lost.signal,
    async release() {
      clearInterval(timer)
      await renewing
      if (!lost.signal.aborted) await write(0).catch(() => {})
    },
  }
}

/** Whether the holder is a dead process of this machine. */
function isDead({ machine, process: pid }: SweepLease): boolean {
  if (machine !== hostname()) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
