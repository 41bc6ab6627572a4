import { createFairGate, ONE_BY_ONE } from '#core/concurrency/fair-gate.ts'
import type { IndexErrorCode, IndexProgress, IndexStage } from '#core/contract/shared.ts'
import { LEASE_SECONDS } from '#core/limits.ts'
import type { IndexJob, JobQueue, JobState, Lease } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { QueueMarker } from '#core/snapshot/index-state.ts'
import { isSuperseded, succeed, turnOf } from '#core/snapshot/job-turns.ts'
import { isQueueKeyOfOurs, QUEUE_PREFIX, queueKey, repositoryQueuePrefix } from '#core/snapshot/store-keys.ts'
import { type Claim, defaultMarkerOf, JobEntries, jobOf, markerOf } from './job-entries.ts'
import { type KnownMarker, Markers, readMarker } from './markers.ts'

/**
 * The queue of a deployment without a database: a marker for each waiting or running job, and an entry with its lease or failure, both in
 * the state store. Closing the queue leaves the state store open.
 *
 * A look at the queue is bounded, since some stores charge by the request: at most one listing, `MARKERS` reads, and four requests for
 * the job that is taken. An offer that adds a job costs one listing of the repository's jobs; one of the default branch reads them, too. Jobs with a lease are read again after `lookSeconds`, and so is a queue that had nothing to take.
 *
 * Every step leaves a state from which the next caller continues, wherever the process dies:
 *
 * | marker | entry           | the job                                                                              |
 * |--------|-----------------|--------------------------------------------------------------------------------------|
 * | yes    | none            | waits                                                                                |
 * | yes    | leased          | runs; can be claimed again once the lease expired                                    |
 * | yes    | released        | waits: a worker stopped, or its process died                                         |
 * | yes    | failed, due     | waits for a retry                                                                    |
 * | yes    | failed, not due | failed; the worker died before it removed the marker, so `take` removes it           |
 * | no     | failed          | failed; an offer leaves a marker again once the retry is due                         |
 * | no     | leased          | done; the worker died before it removed the entry, which the next offer reuses       |
 * | no     | released        | done; a worker that claimed it too late released it; the next offer reuses the entry |
 *
 * @param lookSeconds how long the result of a look is reused. Jobs offered to or released by this queue show at once
 */
export function createStateQueue(
  states: StateStore,
  clock: Clock,
  leaseSeconds: number = LEASE_SECONDS,
  lookSeconds = 0,
): JobQueue {
  const queue = new StateQueue(states, clock, leaseSeconds, lookSeconds)
  return {
    leaseSeconds,
    offer: job => queue.offer(job),
    peek: job => queue.peek(job),
    take: worker => queue.take(worker),
    enter: (lease, stage, progress) => queue.enter(lease, stage, progress),
    renew: lease => queue.renew(lease),
    finish: lease => queue.finish(lease),
    release: lease => queue.release(lease),
    fail: (lease, errorCode) => queue.fail(lease, errorCode),
    crash: (lease, errorCode) => queue.crash(lease, errorCode),
    depth: async () => (await states.list(QUEUE_PREFIX)).length,
    close: async () => {},
  }
}

class StateQueue implements Omit<JobQueue, 'leaseSeconds' | 'depth' | 'close'> {
  readonly #states: StateStore
  readonly #clock: Clock
  readonly #lookMs: number
  readonly #entries: JobEntries
  readonly #markers: Markers
  readonly #adding = createFairGate(ONE_BY_ONE)
  /** No look before this instant, in milliseconds since 1970. */
  #quietUntil = Number.NEGATIVE_INFINITY
  #announcements = 0

  constructor(states: StateStore, clock: Clock, leaseSeconds: number, lookSeconds: number) {
    this.#states = states
    this.#clock = clock
    this.#lookMs = lookSeconds * 1000
    this.#entries = new JobEntries(states, clock, leaseSeconds)
    this.#markers = new Markers(states, clock)
  }

  async offer(job: IndexJob): Promise<JobState> {
    const found = await this.#entries.find(job)
    if (found !== null) return found
    // Most offers come while the job waits, and a read costs less than a refused write.
    const stored = await this.#states.read(keyOf(job))
    if (stored === null || (job.isDefault && !QueueMarker.safeParse(stored.value).data?.isDefault)) await this.#add(job)
    return { status: 'indexing' }
  }

  async peek(job: IndexJob): Promise<JobState | null> {
    const found = await this.#entries.find(job)
    if (found !== null) return found
    return (await this.#states.read(keyOf(job))) === null ? await this.#entries.findFailure(job) : { status: 'indexing' }
  }

  /** One after another, so that offers at the same time do not exceed the bound of their repository together. */
  #add(job: IndexJob): Promise<void> {
    const siblings = repositoryQueuePrefix(job.repository)
    return this.#adding(siblings, async () => {
      const keys = (await this.#states.list(siblings)).filter(isQueueKeyOfOurs)
      if (job.isDefault && (await this.#addDefault(job, keys))) return
      const now = this.#clock.now()
      const turnAt = keys.includes(keyOf(job)) ? null : turnOf(now, keys.length)
      if (turnAt === null) return
      await this.#states.create(keyOf(job), markerOf(job, now, turnAt))
      this.#announce(job)
    })
  }

  /**
   * Adds a job of the default branch, or promotes it if it waits under another name, and removes those that it supersedes.
   * Processes that offer different commits at the same time may leave one job each, until a further commit is offered.
   *
   * @returns `false`, and changes nothing, when the commit is superseded itself
   */
  async #addDefault(job: IndexJob, keys: readonly string[]): Promise<boolean> {
    const key = keyOf(job)
    for (;;) {
      const stored = await this.#states.read(key)
      const own = QueueMarker.safeParse(stored?.value).data ?? null
      if (own?.isDefault) return true
      const others = await this.#readMarkers(keys.filter(other => other !== key))
      if (isSuperseded(job.commit, [...others.values()])) return false
      const waiting = await this.#waitingDefaults(others)
      const now = this.#clock.now()
      const marker = defaultMarkerOf(job, now, succeed(now, own, [...waiting.values()], [...others.values()]))
      const written = await (stored === null ? this.#states.create(key, marker) : this.#states.replace(key, marker, stored.etag))
      // Conflict: another process added or promoted the job, or it ended.
      if (written.status === 'conflict') continue
      this.#markers.forget(key)
      this.#announce(job)
      // Last: a process that dies before leaves a job too many. A worker that claims one meanwhile finishes it, or finds no marker.
      for (const superseded of waiting.keys()) await this.#markers.remove(superseded)
      return true
    }
  }

  async #readMarkers(keys: readonly string[]): Promise<Map<string, QueueMarker>> {
    const markers = new Map<string, QueueMarker>()
    for (const key of keys) {
      const marker = await readMarker(this.#states, key)
      if (marker !== null) markers.set(key, marker)
    }
    return markers
  }

  async #waitingDefaults(markers: ReadonlyMap<string, QueueMarker>): Promise<Map<string, QueueMarker>> {
    const waiting = new Map<string, QueueMarker>()
    for (const [key, marker] of markers) {
      const waits = marker.isDefault && (await this.#entries.find(jobOf(marker)))?.status !== 'indexing'
      if (waits) waiting.set(key, marker)
    }
    return waiting
  }

  async take(worker: string): Promise<Lease | null> {
    if (this.#now() < this.#quietUntil) return null
    const before = this.#announcements
    const markers = await this.#markers.inTurn()
    const now = this.#now()
    /** As far as the last look shows: a job that another worker claimed since then is missed. */
    const running = new Set(markers.flatMap(({ runsUntil, repository }) => (now < runsUntil ? [repository] : [])))
    for (const known of markers) {
      const waitsForSibling = now >= known.runsUntil && running.has(known.repository)
      if (this.#now() < known.heldUntil || waitsForSibling) continue
      const lease = await this.#claim(known, worker)
      if (lease !== null) return lease
      if (known.runsUntil > now) running.add(known.repository)
    }
    // This look may have missed a job that was announced meanwhile.
    if (this.#announcements === before) this.#quietUntil = this.#nextLook()
    return null
  }

  enter(lease: Lease, stage: IndexStage, progress?: IndexProgress): void {
    this.#entries.enter(lease, { stage, ...(progress && { progress }) })
  }

  renew(lease: Lease): Promise<Lease | null> {
    return this.#entries.renew(lease)
  }

  async finish(lease: Lease): Promise<void> {
    // Renewed first, so that the lease holds during the next two steps. Only a stall of a whole lease between them could remove
    // the marker of a later offer: that worker stops, and the next visitor offers again.
    if ((await this.#entries.renew(lease)) === null) return
    // The marker first: without it, no worker claims the finished job.
    await this.#removeMarker(lease.job)
    await this.#entries.remove(lease.job)
  }

  async release(lease: Lease): Promise<void> {
    if (await this.#entries.release(lease)) this.#announce(lease.job)
  }

  async fail(lease: Lease, errorCode: IndexErrorCode): Promise<void> {
    if (await this.#entries.fail(lease, errorCode)) await this.#removeMarker(lease.job)
  }

  async crash(lease: Lease, errorCode: IndexErrorCode): Promise<void> {
    const ended = await this.#entries.crash(lease, errorCode)
    if (ended === 'failed') await this.#removeMarker(lease.job)
    if (ended === 'released') this.#announce(lease.job)
  }

  /** The lease of a waiting job; `null` when it cannot be claimed. */
  async #claim(known: KnownMarker, worker: string): Promise<Lease | null> {
    const claim = await this.#entries.claim(known.marker, worker)
    if (claim.status === 'failed') await this.#markers.remove(known.key)
    if (claim.status === 'held') {
      known.runsUntil = claim.until.getTime()
      known.heldUntil = Math.min(known.runsUntil, this.#nextLook())
    }
    return claim.status === 'leased' ? this.#confirm(known, claim) : null
  }

  /** The lease with the current marker. The job may have finished since the marker was read, or been offered again since. */
  async #confirm(known: KnownMarker, { lease }: Extract<Claim, { status: 'leased' }>): Promise<Lease | null> {
    known.heldUntil = this.#nextLook()
    known.runsUntil = Date.parse(lease.until)
    const marker = await readMarker(this.#states, known.key).catch(async error => {
      // A lease without a worker would expire and count as a crash.
      await this.release(lease).catch(() => {})
      throw error
    })
    if (marker === null) {
      // No job runs: those of the same repository need not wait for it.
      known.runsUntil = 0
      this.#markers.forget(known.key)
      await this.#entries.remove(known.marker)
      return null
    }
    return { ...lease, job: jobOf(marker) }
  }

  /** Makes the job visible to the next look. */
  #announce(job: IndexJob): void {
    this.#markers.free(keyOf(job))
    this.#quietUntil = Number.NEGATIVE_INFINITY
    this.#announcements++
  }

  #removeMarker(job: IndexJob): Promise<void> {
    return this.#markers.remove(keyOf(job))
  }

  #nextLook(): number {
    return this.#now() + this.#lookMs
  }

  #now(): number {
    return this.#clock.now().getTime()
  }
}

function keyOf({ repository, commit }: IndexJob): string {
  return queueKey(repository, commit)
}
