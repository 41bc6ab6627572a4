import type { JobRunner } from './jobs/job-runner.ts'
import type { JobDeps } from './jobs/run-index-job.ts'

/* What the service uses of the indexer when it runs jobs itself. */

export { createJobProcesses } from './jobs/job-processes.ts'
export type { JobRunner } from './jobs/job-runner.ts'
export { startWorker, type Worker } from './jobs/worker.ts'
export { parseWorkerSettings, type WorkerSettings } from './jobs/worker-settings.ts'

/** For a store that nobody else sees: jobs run in this process, with all that indexing needs. */
export async function createRunnerHere(deps: JobDeps): Promise<JobRunner> {
  const { createRunnerHere } = await import('./jobs/run-index-job.ts')
  return createRunnerHere(deps)
}
