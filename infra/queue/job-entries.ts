import { type IndexErrorCode, IndexStage } from '#core/contract/shared.ts'
import type { IndexJob, JobState, Lease } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import {
  claim,
  crashed,
  type FailedJob,
  failed,
  isRetryDue,
  JobEntry,
  type LeasedJob,
  type NotedStage,
  type QueueMarker,
  type ReleasedJob,
  released,
  renewed,
  takeableAt,
} from '#core/snapshot/index-state.ts'
import type { Succession } from '#core/snapshot/job-turns.ts'
import { jobKey } from '#core/snapshot/store-keys.ts'

type EndedJob = FailedJob | ReleasedJob

export type Claim =
  | { status: 'leased'; lease: Lease }
  /** The job failed; the next offer after `retryAt` restarts it. */
  | { status: 'failed' }
  /** Another worker has the lease. `until`: when the job can be claimed, unless the lease is renewed. */
  | { status: 'held'; until: Date }

/** The marker that an offer leaves in a queue. @param turnAt as `turnOf` returns it */
export function markerOf({ repository, commit }: IndexJob, offeredAt: Date, turnAt: Date): QueueMarker {
  return { repository: { ...repository }, commit, offeredAt: offeredAt.toISOString(), turnAt: turnAt.toISOString() }
}

/** The marker of a job of the default branch. */
export function defaultMarkerOf(job: IndexJob, offeredAt: Date, { turnAt, superseded }: Succession): QueueMarker {
  return { ...markerOf(job, offeredAt, turnAt), isDefault: true, ...(superseded.length > 0 ? { superseded } : {}) }
}

export function jobOf({ repository, commit, isDefault }: QueueMarker): IndexJob {
  return { repository, commit, ...(isDefault ? { isDefault } : {}) }
}

/** The lease or failure of each job, as an entry of the state store. Every queue keeps these entries, however it delivers jobs. */
export class JobEntries {
  readonly #states: StateStore
  readonly #clock: Clock
  readonly #leaseSeconds: number
  /** Of the jobs that run under leases of this object, by the key of the entry. */
  readonly #stages = new Map<string, { fence: number; noted: NotedStage }>()

  constructor(states: StateStore, clock: Clock, leaseSeconds: number) {
    this.#states = states
    this.#clock = clock
    this.#leaseSeconds = leaseSeconds
  }

  /** The state of a job that runs, or failed with its retry not due; `null` when the job may be offered. */
  async find(job: IndexJob): Promise<JobState | null> {
    const { entry } = await this.#read(job)
    const now = this.#clock.now()
    if (entry?.state === 'leased' && now.getTime() < Date.parse(entry.until))
      return { status: 'indexing', ...(this.#noted(job, entry.fence) ?? storedStage(entry)) }
    if (entry?.state !== 'failed' || isRetryDue(entry, now)) return null
    return failureOf(entry)
  }

  /** The failure of a job, its retry due or not; `null` when it did not fail last. */
  async findFailure(job: IndexJob): Promise<JobState | null> {
    const { entry } = await this.#read(job)
    return entry?.state === 'failed' ? failureOf(entry) : null
  }

  async claim(job: IndexJob, worker: string): Promise<Claim> {
    const { entry, etag } = await this.#read(job)
    const now = this.#clock.now()
    const next = claim(entry, worker, now, this.#leaseSeconds)
    if (next === null)
      return entry?.state === 'leased' ? { status: 'held', until: takeableAt(entry, this.#leaseSeconds) } : { status: 'failed' }
    const key = keyOf(job)
    const written = etag === null ? await this.#states.create(key, next) : await this.#states.replace(key, next, etag)
    if (written.status === 'conflict') return { status: 'held', until: now }
    if (next.state === 'failed') return { status: 'failed' }
    return { status: 'leased', lease: { job, worker, fence: next.fence, until: next.until } }
  }

  /** Notes what a job does, until its lease ends. Stored by the next renewal: a write of its own would cost more than it tells. */
  enter({ job, fence }: Lease, noted: NotedStage): void {
    this.#stages.set(keyOf(job), { fence, noted })
  }

  /** What was noted under the lease with this fencing token. */
  #noted(job: IndexJob, fence: number): NotedStage | null {
    const own = this.#stages.get(keyOf(job))
    return own?.fence === fence ? own.noted : null
  }

  /** The prolonged lease; `null` when the lease is lost. */
  async renew(lease: Lease): Promise<Lease | null> {
    const noted = this.#noted(lease.job, lease.fence)
    const written = await this.#write(lease, (entry, now) => renewed(entry, now, this.#leaseSeconds, noted))
    if (written === null) this.#stages.delete(keyOf(lease.job))
    return written && { ...lease, until: written.until }
  }

  // `release`, `fail` and `crash` are idempotent: each writes the end once and answers a repeated call the same, since the caller's next step may
  // have failed.

  /** `false` when the lease was lost before. */
  async release(lease: Lease): Promise<boolean> {
    return (await this.#end(lease, released)) === 'released'
  }

  /** `false` when the lease was lost before. */
  async fail(lease: Lease, errorCode: IndexErrorCode): Promise<boolean> {
    return (await this.#end(lease, (entry, now) => failed(entry, errorCode, now))) === 'failed'
  }

  /** The state in which the entry ended; `null` when the lease was lost before. */
  crash(lease: Lease, errorCode: IndexErrorCode): Promise<EndedJob['state'] | null> {
    return this.#end(lease, (entry, now) => crashed(entry, errorCode, now))
  }

  remove(job: IndexJob): Promise<void> {
    this.#stages.delete(keyOf(job))
    return this.#states.remove(keyOf(job))
  }

  /** An entry that this version cannot parse counts as absent, and is overwritten. */
  async #read(job: IndexJob): Promise<{ entry: JobEntry | null; etag: string | null }> {
    const stored = await this.#states.read(keyOf(job))
    if (stored === null) return { entry: null, etag: null }
    return { entry: JobEntry.safeParse(stored.value).data ?? null, etag: stored.etag }
  }

  /** The entry while the lease holds, with its current etag; `null` once the lease is lost or ended. */
  async #readOwn({ job, worker, fence }: Lease): Promise<{ entry: LeasedJob; etag: string } | null> {
    const { entry, etag } = await this.#read(job)
    const isOwn = entry?.state === 'leased' && entry.worker === worker && entry.fence === fence
    return isOwn && etag !== null ? { entry, etag } : null
  }

  /** Replaces the entry of the lease. Returns what it wrote; `null` once the lease is lost or ended. */
  async #write<Next extends JobEntry>(lease: Lease, next: (entry: LeasedJob, now: Date) => Next): Promise<Next | null> {
    for (;;) {
      const own = await this.#readOwn(lease)
      if (own === null) return null
      const written = next(own.entry, this.#clock.now())
      if ((await this.#states.replace(keyOf(lease.job), written, own.etag)).status === 'written') return written
      // Conflict: another worker claimed the job, or an earlier write of this lease succeeded although its answer was an error.
    }
  }

  /** The state in which the lease ended; `null` when it was lost. */
  async #end(lease: Lease, next: (entry: LeasedJob, now: Date) => EndedJob): Promise<EndedJob['state'] | null> {
    const written = await this.#write(lease, next)
    this.#stages.delete(keyOf(lease.job))
    if (written !== null) return written.state
    const { entry } = await this.#read(lease.job)
    return entry !== null && entry.state !== 'leased' && entry.fence === lease.fence ? entry.state : null
  }
}

function failureOf({ errorCode, retryAt }: FailedJob): JobState {
  return { status: 'failed', errorCode, retryAt }
}

/** What the worker stored. A stage of a later version is told as the first. */
function storedStage({ stage, progress }: LeasedJob): NotedStage {
  const known = IndexStage.safeParse(stage).data
  return known === undefined ? { stage: 'open' } : { stage: known, ...(progress && { progress }) }
}

function keyOf({ repository, commit }: IndexJob): string {
  return jobKey(repository, commit)
}
