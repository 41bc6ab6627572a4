import type { IndexErrorCode } from '#core/contract/shared.ts'
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
  type QueueMarker,
  type ReleasedJob,
  released,
  renewed,
  takeableAt,
} from '#core/snapshot/index-state.ts'
import { jobKey } from '#core/snapshot/store-keys.ts'

/** The lease or failure of each job, as a document: what every queue keeps, whatever tells its workers of jobs. */
export interface JobEntries {
  /** What an offer of the job meets; `null` where the job may be left. */
  find(job: IndexJob): Promise<JobState | null>

  claim(job: IndexJob, worker: string): Promise<Claim>

  /** `null` when the lease is lost. */
  renew(lease: Lease): Promise<Lease | null>

  // An end is recorded once, and answered alike when it is told again: what follows it may have failed the first time.

  /** `false` when the lease was lost before. */
  release(lease: Lease): Promise<boolean>
  fail(lease: Lease, errorCode: IndexErrorCode): Promise<boolean>
  /** How the record ended; `null` when the lease was lost before. */
  crash(lease: Lease, errorCode: IndexErrorCode): Promise<'released' | 'failed' | null>

  remove(job: IndexJob): Promise<void>
}

type EndedJob = FailedJob | ReleasedJob

export type Claim =
  | { status: 'leased'; lease: Lease }
  /** It is over with the job until somebody asks again. */
  | { status: 'failed' }
  /** Somebody else has it. `until`: as far as is known now. */
  | { status: 'held'; until: Date }

/** What an offer leaves where jobs wait. */
export function markerOf(job: IndexJob, offeredAt: Date): QueueMarker {
  return { ...job, repository: { ...job.repository }, offeredAt: offeredAt.toISOString() }
}

export function createJobEntries(states: StateStore, clock: Clock, leaseSeconds: number): JobEntries {
  /** The record of the job while the lease still holds, in whichever version: nobody else writes over it until then. */
  async function readOwn({ job, worker, fence }: Lease): Promise<{ record: LeasedJob; etag: string } | null> {
    const { record, etag } = await readEntry(states, job)
    const isOwn = record?.state === 'leased' && record.worker === worker && record.fence === fence
    return isOwn && etag !== null ? { record, etag } : null
  }

  /** Writes over the record of the lease. `null`: it is lost, or over. */
  async function write<Next extends JobEntry>(lease: Lease, next: (record: LeasedJob, now: Date) => Next): Promise<Next | null> {
    for (;;) {
      const own = await readOwn(lease)
      if (own === null) return null
      const written = next(own.record, clock.now())
      if ((await states.replace(keyOf(lease.job), written, own.etag)).status === 'written') return written
      // Somebody took the job meanwhile, or an earlier write of this lease, which seemed to fail, has come through after all.
    }
  }

  /** What the lease ended as. */
  async function end(lease: Lease, next: (record: LeasedJob, now: Date) => EndedJob): Promise<EndedJob['state'] | null> {
    const written = await write(lease, next)
    if (written !== null) return written.state
    const { record } = await readEntry(states, lease.job)
    return record !== null && record.state !== 'leased' && record.fence === lease.fence ? record.state : null
  }

  return {
    async find(job) {
      const { record } = await readEntry(states, job)
      const now = clock.now()
      if (record?.state === 'leased' && now.getTime() < Date.parse(record.until)) return { status: 'indexing' }
      if (record?.state !== 'failed' || isRetryDue(record, now)) return null
      return { status: 'failed', errorCode: record.errorCode, retryAt: record.retryAt }
    },

    async claim(job, worker) {
      const { record, etag } = await readEntry(states, job)
      const now = clock.now()
      const next = claim(record, worker, now, leaseSeconds)
      if (next === null)
        return record?.state === 'leased' ? { status: 'held', until: takeableAt(record, leaseSeconds) } : { status: 'failed' }
      const written = etag === null ? await states.create(keyOf(job), next) : await states.replace(keyOf(job), next, etag)
      // Somebody was faster, whatever it was that they wrote.
      if (written.status === 'conflict') return { status: 'held', until: now }
      if (next.state === 'failed') return { status: 'failed' }
      return { status: 'leased', lease: { job, worker, fence: next.fence, until: next.until } }
    },

    async renew(lease) {
      const written = await write(lease, (record, now) => renewed(record, now, leaseSeconds))
      return written && { ...lease, until: written.until }
    },

    release: async lease => (await end(lease, released)) === 'released',
    fail: async (lease, errorCode) => (await end(lease, (record, now) => failed(record, errorCode, now))) === 'failed',
    crash: (lease, errorCode) => end(lease, (record, now) => crashed(record, errorCode, now)),

    remove: job => states.remove(keyOf(job)),
  }
}

/** A record that this version cannot read counts as none, and is written over. */
async function readEntry(states: StateStore, job: IndexJob): Promise<{ record: JobEntry | null; etag: string | null }> {
  const stored = await states.read(keyOf(job))
  if (stored === null) return { record: null, etag: null }
  return { record: JobEntry.safeParse(stored.value).data ?? null, etag: stored.etag }
}

function keyOf({ repository, commit }: IndexJob): string {
  return jobKey(repository, commit)
}
