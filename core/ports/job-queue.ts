import type { CommitSha } from '../commit-sha.ts'
import type { IndexErrorCode, IndexProgress, IndexStage } from '../contract/shared.ts'
import type { HostRepository } from './git-host.ts'

/** A queue of index jobs, with at most one job for each repository, commit, and version of the reading rules, the format and the search. */
export interface JobQueue {
  /** Duration of a lease without renewal. */
  readonly leaseSeconds: number

  /**
   * Adds a job, unless it waits or runs already. After a failure, only once the backoff has elapsed.
   * If the repository has `REPOSITORY_JOBS` jobs already, adds nothing and answers `indexing`: a later offer adds the job.
   * A job of the default branch is always added, and removes the one that waits (`succeed`). One that was superseded itself is added as that of
   * any other ref (`isSuperseded`).
   */
  offer(job: IndexJob): Promise<JobState>

  /**
   * The state of a job, without offering it: what an offer would answer, but for a failure whose retry is due, which stays a failure here.
   * `null` when it neither waits nor runs, and did not fail.
   */
  peek(job: IndexJob): Promise<JobState | null>

  /**
   * Leases a waiting job; `null` when none may run. A job whose lease expired waits again after `LEASE_MARGIN`. Repositories take turns (`turnOf`), and a
   * repository has one running job: the others wait, since they reuse what it stores.
   */
  take(worker: string): Promise<Lease | null>

  /** Notes what the job does. Offers to this queue answer it at once, those to other queues from the next renewal on, which stores it. */
  enter(lease: Lease, stage: IndexStage, progress?: IndexProgress): void

  /** Renews the lease; `null` when it is lost: the worker must stop the job. */
  renew(lease: Lease): Promise<Lease | null>

  /** Removes the job: its snapshot exists. */
  finish(lease: Lease): Promise<void>

  /** Returns the job to the queue. */
  release(lease: Lease): Promise<void>

  /** Fails the job. An offer after `retryAt` adds it again. */
  fail(lease: Lease, errorCode: IndexErrorCode): Promise<void>

  /**
   * Counts a death of the process that ran the job: returns the job to the queue, or fails it with the code after `JOB_CRASHES` crashes.
   * An expired lease counts as a crash, too.
   */
  crash(lease: Lease, errorCode: IndexErrorCode): Promise<void>

  /** Number of jobs that wait or run. Costs at most one listing. */
  depth(): Promise<number>

  close(): Promise<void>
}

export interface IndexJob {
  repository: HostRepository
  commit: CommitSha
  /** The commit was that of the default branch when the job was offered. */
  isDefault?: true
}

export interface Lease {
  job: IndexJob
  worker: string
  /** Fencing token: increases with every lease of the job. Identifies the lease together with `worker`. */
  fence: number
  /** ISO 8601. */
  until: string
  /** Id of the delivery, in queues of a queue server. */
  delivery?: string
}

export type JobState =
  /** `stage`: absent while the job waits for its turn. `progress`: absent where nothing is counted. */
  | { status: 'indexing'; stage?: IndexStage; progress?: IndexProgress }
  | { status: 'failed'; errorCode: IndexErrorCode; retryAt: string }
