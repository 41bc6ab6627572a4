import { z } from 'zod'
import { LEASE_SECONDS, OLD_VERSION_DAYS } from '#core/limits.ts'
import type { IndexJob, JobQueue, Lease } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { QueueMarker } from '#core/snapshot/index-state.ts'
import { isQueueKeyOfOurs, QUEUE_PREFIX, queueKey } from '#core/snapshot/store-keys.ts'
import { createJobEntries, markerOf } from './job-entries.ts'

/**
 * The queue of a single machine: a marker document for each waiting or running job, and beside it the record of its lease or failure.
 * Closing the queue leaves the document store open.
 *
 * What a look costs is bounded, as some stores are paid by the request: at most one listing, `MARKERS` reads, and four requests for the job that
 * is taken; jobs that others hold are read again only after `lookSeconds`, and so is a queue that had nothing to take.
 *
 * Every step leaves a state from which the next caller goes on, wherever the process dies:
 *
 * | marker | record          | the job                                                                        |
 * |--------|-----------------|--------------------------------------------------------------------------------|
 * | yes    | none            | waits                                                                          |
 * | yes    | leased          | runs; once the lease ran out, it is taken again                                |
 * | yes    | released        | waits, handed back by a worker that stopped, or that saw its process die       |
 * | yes    | failed, due     | waits for another try                                                          |
 * | yes    | failed, not due | failed; the worker died before it removed the marker, so `take` removes it     |
 * | no     | failed          | failed; an offer leaves a marker again once the retry is due                   |
 * | no     | leased          | done; the worker died before it removed the record, which the next offer reuses |
 * | no     | released        | done; a worker that came too late could not see that, and handed it back; so too |
 */
export function createStateQueue(
  states: StateStore,
  clock: Clock,
  leaseSeconds: number = LEASE_SECONDS,
  /** How long a look at the queue is gone by. What this queue itself was told is known at once. */
  lookSeconds = 0,
): JobQueue {
  const records = createJobEntries(states, clock, leaseSeconds)
  const markers = createMarkers(states, clock)
  let quietUntil = Number.NEGATIVE_INFINITY
  let announcements = 0
  const removeMarker = (job: IndexJob) => markers.remove(queueKey(job.repository, job.commit))
  const soon = () => clock.now().getTime() + lookSeconds * 1000

  /** Somebody may take the job now. */
  function announce(job: IndexJob): void {
    markers.free(queueKey(job.repository, job.commit))
    quietUntil = Number.NEGATIVE_INFINITY
    announcements++
  }

  /** The lease of a job that waits; `null`: it does not. */
  async function claim(known: KnownMarker, worker: string): Promise<Lease | null> {
    const { key, marker } = known
    const claim = await records.claim(marker, worker)
    if (claim.status === 'failed') await markers.remove(key)
    if (claim.status === 'held') known.heldUntil = Math.min(claim.until.getTime(), soon())
    if (claim.status !== 'leased') return null
    known.heldUntil = soon()
    // The job may have been finished, record and all, since its marker was seen. It may also have been left anew, otherwise.
    const present = await readMarker(states, key).catch(async error => {
      // A lease that nobody knows of would run out, and count as a death.
      await release(claim.lease).catch(() => {})
      throw error
    })
    if (present === null) {
      await records.remove(marker)
      return null
    }
    const { offeredAt: _, ...job } = present
    return { ...claim.lease, job }
  }

  async function release(lease: Lease): Promise<void> {
    if (await records.release(lease)) announce(lease.job)
  }

  return {
    leaseSeconds,

    async offer(job) {
      const found = await records.find(job)
      if (found !== null) return found
      const key = queueKey(job.repository, job.commit)
      const marker = markerOf(job, clock.now())
      // Most offers come while the job waits, and a read costs less than a refused write.
      if ((await states.read(key)) === null) {
        await states.create(key, marker)
        announce(job)
      }
      return { status: 'indexing' }
    },

    async take(worker) {
      if (clock.now().getTime() < quietUntil) return null
      const before = announcements
      for (const known of await markers.oldestFirst()) {
        if (clock.now().getTime() < known.heldUntil) continue
        const lease = await claim(known, worker)
        if (lease !== null) return lease
      }
      // What was announced meanwhile this look may not have seen.
      if (announcements === before) quietUntil = soon()
      return null
    },

    renew: records.renew,

    async finish(lease) {
      // The job is surely ours, and stays so while it goes. Only a stall of a whole lease between the steps could remove what
      // a later offer left: its worker stops, and the next visitor offers again.
      if ((await records.renew(lease)) === null) return
      // The marker first, so that nobody starts over with a job that is done.
      await removeMarker(lease.job)
      await records.remove(lease.job)
    },

    release,

    async fail(lease, errorCode) {
      if (await records.fail(lease, errorCode)) await removeMarker(lease.job)
    },

    async crash(lease, errorCode) {
      const ended = await records.crash(lease, errorCode)
      if (ended === 'failed') await removeMarker(lease.job)
      if (ended === 'released') announce(lease.job)
    },

    async depth() {
      return (await states.list(QUEUE_PREFIX)).length
    },

    async close() {},
  }
}

/** `null` also for what no worker can do; that is removed, as it would stand for ever. */
async function readMarker(states: StateStore, key: string): Promise<QueueMarker | null> {
  const stored = await states.read(key)
  if (stored === null) return null
  const marker = QueueMarker.safeParse(stored.value).data
  if (marker && queueKey(marker.repository, marker.commit) === key) return marker
  await states.remove(key)
  return null
}

const OfferedAt = z.object({ offeredAt: z.iso.datetime() })

/**
 * Until when a marker of other reading rules is left to the workers of these, in milliseconds: versions run side by side while a fleet is
 * renewed. `null`: nobody has come for it, and it is removed.
 */
async function leaveToOthers(states: StateStore, key: string, now: Date): Promise<number | null> {
  const offered = OfferedAt.safeParse((await states.read(key))?.value).data
  const until = offered ? Date.parse(offered.offeredAt) + OLD_VERSION_DAYS * DAY_MS : 0
  if (now.getTime() < until) return until
  await states.remove(key)
  return null
}

const DAY_MS = 86_400_000

/** Keys that a look sees. Where more jobs wait, the next look goes on behind them. */
const LISTED = 1_000
/** Markers that a look reads. */
const MARKERS = 100
const READS_AT_ONCE = 16
/** Jobs that are kept in memory. */
const KNOWN = 10_000

interface KnownMarker {
  key: string
  marker: QueueMarker
  /** Both in milliseconds. Somebody has the job until then, so far as is known. */
  offeredAt: number
  heldUntil: number
}

/**
 * The markers of a store, each read once however often the queue is asked for. Where more jobs wait than a look sees or reads, the oldest
 * of those that were seen comes first, and the others are seen by the next looks.
 *
 * One that was left anew since is remembered with the earlier instant; its repository and commit are part of its key.
 */
function createMarkers(states: StateStore, clock: Clock) {
  const known = new Map<string, KnownMarker>()
  /** Markers of other reading rules, with the instant from which they are read again. */
  const ofOthers = new Map<string, number>()
  let unread: string[] = []
  /** The key behind which the next look begins. */
  let after = ''

  async function list(): Promise<void> {
    const page = await states.list(QUEUE_PREFIX, { after, limit: LISTED })
    const end = page.length === LISTED ? page.at(-1) : undefined
    const isSeen = (key: string) => key > after && (end === undefined || key <= end)
    const there = new Set(page)
    for (const kept of [known, ofOthers]) for (const key of kept.keys()) if (isSeen(key) && !there.has(key)) kept.delete(key)
    const now = clock.now().getTime()
    const isNew = (key: string) => !known.has(key) && (ofOthers.get(key) ?? 0) <= now
    unread = [...unread.filter(key => !isSeen(key)), ...page.filter(isNew)].slice(0, KNOWN)
    after = end ?? ''
  }

  async function readSome(): Promise<void> {
    const keys = unread.splice(0, Math.min(MARKERS, KNOWN - known.size))
    for (let start = 0; start < keys.length; start += READS_AT_ONCE) {
      await Promise.all(keys.slice(start, start + READS_AT_ONCE).map(readOne))
    }
  }

  async function readOne(key: string): Promise<void> {
    if (isQueueKeyOfOurs(key)) {
      const marker = await readMarker(states, key)
      if (marker !== null) known.set(key, { key, marker, offeredAt: Date.parse(marker.offeredAt), heldUntil: 0 })
      return
    }
    const until = await leaveToOthers(states, key, clock.now())
    if (until !== null) ofOthers.set(key, until)
  }

  return {
    async oldestFirst(): Promise<KnownMarker[]> {
      await list()
      await readSome()
      return [...known.values()].sort((a, b) => a.offeredAt - b.offeredAt)
    },

    async remove(key: string): Promise<void> {
      known.delete(key)
      await states.remove(key)
    },

    /** Nobody has the job any more. */
    free(key: string): void {
      const marker = known.get(key)
      if (marker) marker.heldUntil = 0
    },
  }
}
