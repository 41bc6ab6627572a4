import type { CommitSha } from '../commit-sha.ts'
import type { IndexErrorCode } from '../contract/shared.ts'
import type { HostRepository } from './git-host.ts'

/** Index jobs, at most one for a repository, commit and reading-rule version. */
export interface JobQueue {
  /** How long a lease lasts that is not renewed. */
  readonly leaseSeconds: number

  /** Leaves a job unless one waits or runs already. After a failure it counts only once the backoff elapsed. */
  offer(job: IndexJob): Promise<JobState>

  /** Takes the oldest job that nobody holds, or `null`. A job whose lease ran out is taken again. */
  take(worker: string): Promise<Lease | null>

  /** Prolongs the lease; `null` when somebody else holds the job by now: stop working on it. */
  renew(lease: Lease): Promise<Lease | null>

  /** The snapshot is there: drops the job. */
  finish(lease: Lease): Promise<void>

  /** Hands the job back: it waits as if nobody had taken it. */
  release(lease: Lease): Promise<void>

  /** Records the failure; the next visitor may ask again after `retryAt`. */
  fail(lease: Lease, errorCode: IndexErrorCode): Promise<void>

  /** The process that ran the job died: the job waits again, or fails with the code when `JOB_CRASHES` processes died over it. */
  crash(lease: Lease, errorCode: IndexErrorCode): Promise<void>

  /** Jobs that wait or run. Costs a listing of them at most. */
  depth(): Promise<number>

  close(): Promise<void>
}

export interface IndexJob {
  repository: HostRepository
  commit: CommitSha
  /** Whoever left the job found the commit as that of the default branch. */
  isDefault?: true
}

export interface Lease {
  job: IndexJob
  worker: string
  /** Grows with every taking of the job: with the worker it tells one lease from another. */
  fence: number
  /** ISO 8601. */
  until: string
  /** What a server that delivers jobs calls this delivery. */
  delivery?: string
}

export type JobState = { status: 'indexing' } | { status: 'failed'; errorCode: IndexErrorCode; retryAt: string }
