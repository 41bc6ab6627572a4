import type { IndexErrorCode } from '#core/contract/shared.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { Progress } from '../pipeline/progress.ts'

/** Runs index jobs: in this process, or each in one of its own. It knows nothing of queues and leases. */
export interface JobRunner {
  /** Resolves once a job could begin at once. @throws Error when none can, or `signal` is aborted first */
  ready(signal: AbortSignal): Promise<void>

  /** Runs a job to its end, however that comes. @throws Error when it could not even begin */
  run(job: IndexJob, options: RunOptions): Promise<JobEnd>

  /** Ends what is left over from the jobs. */
  close(): Promise<void>
}

export interface RunOptions {
  /** Aborted when the job must stop: its end is then `stopped`, unless it came before. */
  signal: AbortSignal
  onStage: (stage: Stage) => void
}

/** `open`: before the tree is read. */
export type Stage = 'open' | Progress['stage']

export type JobEnd =
  /** `notListed`: why the page of the owner does not tell of it yet. */
  | { status: 'indexed'; objects: number; bytes: number; notListed?: unknown }
  /** `err`: for the log. */
  | { status: 'failed'; errorCode: IndexErrorCode; err: unknown }
  | { status: 'stopped' }
  /** The process that ran it died or had to be killed; the code is what the job fails with when that happens too often. */
  | { status: 'crashed'; errorCode: IndexErrorCode; reason: string }
