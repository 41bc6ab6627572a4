import type { IndexErrorCode, IndexProgress, IndexStage } from '#core/contract/shared.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'

/** Runs index jobs, in this process or in separate ones. It does not know the queue or its leases. */
export interface JobRunner {
  /** Resolves once a job can start without delay. @throws Error when no job can start, or the reason of `signal` */
  ready(signal: AbortSignal): Promise<void>

  /** Runs a job and resolves with its result. @throws Error when the job could not start */
  run(job: IndexJob, options: RunOptions): Promise<JobEnd>

  /** Ends all job processes. */
  close(): Promise<void>
}

export interface RunOptions {
  /** Aborted to stop the job: its result is then `stopped`, unless it ended before. */
  signal: AbortSignal
  /** Called when a stage begins, and when more of it is done. */
  onStage: (stage: IndexStage, progress?: IndexProgress) => void
}

export type JobEnd =
  /** `notListed`: the error that kept the repository off the page of its owner. */
  | { status: 'indexed'; objects: number; bytes: number; notListed?: unknown }
  /** `err`: for the log. */
  | { status: 'failed'; errorCode: IndexErrorCode; err: unknown }
  | { status: 'stopped' }
  /** The process died or was killed. A job that crashes too often fails with `errorCode`. */
  | { status: 'crashed'; errorCode: IndexErrorCode; reason: string }
