import { z } from 'zod'
import { CommitSha } from '../commit-sha.ts'
import { Repository } from '../contract/mount.ts'
import { IndexErrorCode, IndexProgress, type IndexStage } from '../contract/shared.ts'
import { FAILURE_BACKOFF_SECONDS, JOB_CRASHES, LEASE_MARGIN, LEASE_SECONDS } from '../limits.ts'

/** Marker of a waiting or running job: everything that a worker needs to claim it. */
export const QueueMarker = z.object({
  repository: Repository.extend({ id: z.string(), ownerId: z.string().exactOptional() }),
  commit: CommitSha,
  isDefault: z.literal(true).exactOptional(),
  offeredAt: z.iso.datetime(),
  /** See `turnOf`. Absent in markers of earlier versions. */
  turnAt: z.iso.datetime().exactOptional(),
  /** Commits of the default branch that this job superseded. See `isSuperseded`. */
  superseded: z.array(CommitSha).exactOptional(),
})
export type QueueMarker = z.infer<typeof QueueMarker>

/** Entry with the commit of a repository that was indexed last. */
export const LastIndexed = z.object({ commit: CommitSha })

/**
 * Entry of the state store that holds the lease or the failure of an index job. The functions below are its transitions, all pure.
 * Without an entry the job waits. Success removes the entry: a snapshot is ready when its header exists.
 */
export const JobEntry = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('leased'),
    worker: z.string(),
    /** Fencing token: grows by one with every claim. */
    fence: z.int().min(1),
    until: z.iso.datetime(),
    /** Failures before this attempt. */
    failures: z.int().min(0),
    /** Crashes of the job since it last failed: expired leases, and deaths of the process that the worker saw. */
    crashes: z.int().min(0),
    /** What the job did at the last renewal: an `IndexStage`, maybe of a later version. */
    stage: z.string().exactOptional(),
    /** Of that stage. */
    progress: IndexProgress.exactOptional(),
  }),
  z.object({
    state: z.literal('failed'),
    errorCode: IndexErrorCode,
    fence: z.int().min(1),
    failures: z.int().min(1),
    retryAt: z.iso.datetime(),
  }),
  /** Released by a worker that stops, or whose process died: the job waits. */
  z.object({
    state: z.literal('released'),
    fence: z.int().min(1),
    failures: z.int().min(0),
    crashes: z.int().min(0).default(0),
  }),
])
export type JobEntry = z.infer<typeof JobEntry>
export type LeasedJob = Extract<JobEntry, { state: 'leased' }>
export type FailedJob = Extract<JobEntry, { state: 'failed' }>
export type ReleasedJob = Extract<JobEntry, { state: 'released' }>

/** The entry after a worker claims the job: its lease, or a failure after too many crashes; `null` while the job cannot be claimed. */
export function claim(
  entry: JobEntry | null,
  worker: string,
  now: Date,
  leaseSeconds: number = LEASE_SECONDS,
): LeasedJob | FailedJob | null {
  const until = after(now, leaseSeconds)
  if (entry === null) return { state: 'leased', worker, fence: 1, failures: 0, crashes: 0, until }
  const { fence, failures } = entry
  const next = { state: 'leased', worker, fence: fence + 1, failures, until } as const
  switch (entry.state) {
    case 'released':
      return { ...next, crashes: entry.crashes }
    case 'failed':
      return isRetryDue(entry, now) ? { ...next, crashes: 0 } : null
    case 'leased': {
      if (now < takeableAt(entry, leaseSeconds)) return null
      const crashes = entry.crashes + 1
      return crashes >= JOB_CRASHES ? failed(entry, 'index.internal', now) : { ...next, crashes }
    }
  }
}

/**
 * When another worker may claim the job, by that worker's clock. The margin tolerates clocks that differ: a worker renews after each third
 * of its lease. While renewals succeed, a worker whose clock is ahead by less than a lease cannot take the job. Both need the same lease.
 */
export function takeableAt({ until }: LeasedJob, leaseSeconds: number): Date {
  return new Date(Date.parse(until) + leaseSeconds * LEASE_MARGIN * 1000)
}

/** What a job does. */
export interface NotedStage {
  stage: IndexStage
  progress?: IndexProgress
}

/** The entry after the worker renews its lease. @param noted `null`: no stage was noted */
export function renewed(
  entry: LeasedJob,
  now: Date,
  leaseSeconds: number = LEASE_SECONDS,
  noted: NotedStage | null = null,
): LeasedJob {
  const until = after(now, leaseSeconds)
  if (noted === null) return { ...entry, until }
  const { progress: _before, ...lease } = entry
  return { ...lease, until, ...noted }
}

/** The entry after the worker hands the job back. Crashes stay counted. */
export function released({ fence, failures, crashes }: LeasedJob): ReleasedJob {
  return { state: 'released', fence, failures, crashes }
}

/** The entry after the process that ran the job died: released, or failed with `errorCode` after `JOB_CRASHES` crashes. */
export function crashed(entry: LeasedJob, errorCode: IndexErrorCode, now: Date): ReleasedJob | FailedJob {
  const crashes = entry.crashes + 1
  return crashes >= JOB_CRASHES ? failed(entry, errorCode, now) : released({ ...entry, crashes })
}

/** The entry after a failure, with an exponential backoff. */
export function failed(entry: LeasedJob, errorCode: IndexErrorCode, now: Date): FailedJob {
  const failures = entry.failures + 1
  const backoffSeconds = Math.min(FAILURE_BACKOFF_SECONDS.max, FAILURE_BACKOFF_SECONDS.first * 2 ** (failures - 1))
  return { state: 'failed', errorCode, fence: entry.fence, failures, retryAt: after(now, backoffSeconds) }
}

export function isRetryDue(entry: FailedJob, now: Date): boolean {
  return now.getTime() >= Date.parse(entry.retryAt)
}

function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1000).toISOString()
}
