import type { BlobStore } from '#core/ports/blob-store.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { errorCodeOf } from '../pipeline/index-error.ts'
import { type ReadableHost, writeSnapshot } from '../pipeline/write-snapshot.ts'
import type { JobEnd, JobRunner, RunOptions, Stage } from './job-runner.ts'
import { keepListed } from './list-indexed.ts'

/** What a job reads and writes. */
export interface JobDeps {
  blobs: BlobStore
  states: StateStore
  hosts: readonly ReadableHost[]
}

/** Runs jobs in this process: for a store that nobody else sees. */
export function createRunnerHere(deps: JobDeps): JobRunner {
  return { async ready() {}, run: (job, options) => runIndexJob(deps, job, options), async close() {} }
}

/** Runs one job to its end in this process. Never rejects: what goes wrong is the end of the job. */
export async function runIndexJob(deps: JobDeps, job: IndexJob, { signal, onStage }: RunOptions): Promise<JobEnd> {
  let stage: Stage | null = null
  const enter = (next: Stage) => {
    if (next !== stage) onStage(next)
    stage = next
  }
  try {
    enter('open')
    const written = await writeSnapshot(deps, job, signal, progress => enter(progress.stage))
    const end = { status: 'indexed', objects: written?.objects ?? 0, bytes: written?.bytes ?? 0 } as const
    // The snapshot is what was asked for; whoever visits it lists it as well.
    return await keepListed(deps, job).then(
      () => end,
      (error: unknown) => ({ ...end, notListed: error }),
    )
  } catch (error) {
    return signal.aborted ? { status: 'stopped' } : { status: 'failed', errorCode: errorCodeOf(error), err: error }
  }
}
