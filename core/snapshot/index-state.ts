import { z } from 'zod'
import { CommitSha } from '../commit-sha.ts'
import { Repository } from '../contract/mount.ts'
import { IndexErrorCode } from '../contract/shared.ts'
import { FAILURE_BACKOFF_SECONDS, JOB_CRASHES, LEASE_MARGIN, LEASE_SECONDS } from '../limits.ts'

/** The marker of a waiting or running job: what a worker needs to know before it reads anything else. */
export const QueueMarker = z.object({
  repository: Repository.extend({ id: z.string(), ownerId: z.string().exactOptional() }),
  commit: CommitSha,
  isDefault: z.literal(true).exactOptional(),
  offeredAt: z.iso.datetime(),
})
export type QueueMarker = z.infer<typeof QueueMarker>

/**
 * The life of an index job beside its queue marker, as pure transitions over one document.
 * No document: the job waits. After success the document is removed; ready is the existence of the header, never a flag.
 */
export const JobEntry = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('leased'),
    worker: z.string(),
    /** Grows with every taking. */
    fence: z.int().min(1),
    until: z.iso.datetime(),
    /** Failures before this try. */
    failures: z.int().min(0),
    /** Processes that died over the job since it last failed: leases that ran out, and deaths that the worker saw. */
    crashes: z.int().min(0),
  }),
  z.object({
    state: z.literal('failed'),
    errorCode: IndexErrorCode,
    fence: z.int().min(1),
    failures: z.int().min(1),
    retryAt: z.iso.datetime(),
  }),
  /** Handed back, by a worker that was told to stop or whose process died over it: waits like a job that nobody took. */
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

/** The record after a worker asks for the job: its lease, a failure when too many workers died over it, or `null` while another holds it. */
export function claim(
  record: JobEntry | null,
  worker: string,
  now: Date,
  leaseSeconds: number = LEASE_SECONDS,
): LeasedJob | FailedJob | null {
  const until = after(now, leaseSeconds)
  if (record === null) return { state: 'leased', worker, fence: 1, failures: 0, crashes: 0, until }
  const { fence, failures } = record
  const next = { state: 'leased', worker, fence: fence + 1, failures, until } as const
  switch (record.state) {
    case 'released':
      return { ...next, crashes: record.crashes }
    case 'failed':
      return isRetryDue(record, now) ? { ...next, crashes: 0 } : null
    case 'leased': {
      if (now < takeableAt(record, leaseSeconds)) return null
      const crashes = record.crashes + 1
      return crashes >= JOB_CRASHES ? failed(record, 'index.internal', now) : { ...next, crashes }
    }
  }
}

/**
 * When a job may be taken from its worker, by the clock of whoever asks. A worker renews after a third of its lease: who is ahead of it by
 * less than a lease does not take what it is doing.
 */
export function takeableAt({ until }: LeasedJob, leaseSeconds: number): Date {
  return new Date(Date.parse(until) + leaseSeconds * LEASE_MARGIN * 1000)
}

export function renewed(record: LeasedJob, now: Date, leaseSeconds: number = LEASE_SECONDS): LeasedJob {
  return { ...record, until: after(now, leaseSeconds) }
}

/** Deaths that were counted stay counted: who hands a job back says nothing about it. */
export function released({ fence, failures, crashes }: LeasedJob): ReleasedJob {
  return { state: 'released', fence, failures, crashes }
}

/** The process that ran the job died: the job waits again, and fails with `errorCode` when too many died over it. */
export function crashed(record: LeasedJob, errorCode: IndexErrorCode, now: Date): ReleasedJob | FailedJob {
  const crashes = record.crashes + 1
  return crashes >= JOB_CRASHES ? failed(record, errorCode, now) : released({ ...record, crashes })
}

export function failed(record: LeasedJob, errorCode: IndexErrorCode, now: Date): FailedJob {
  const failures = record.failures + 1
  const backoffSeconds = Math.min(FAILURE_BACKOFF_SECONDS.max, FAILURE_BACKOFF_SECONDS.first * 2 ** (failures - 1))
  return { state: 'failed', errorCode, fence: record.fence, failures, retryAt: after(now, backoffSeconds) }
}

export function isRetryDue(record: FailedJob, now: Date): boolean {
  return now.getTime() >= Date.parse(record.retryAt)
}

function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1000).toISOString()
}
