import type { JobRunner } from './jobs/job-runner.ts'
import type { LastStateDeps } from './jobs/last-state-runner.ts'
import type { JobDeps } from './jobs/run-index-job.ts'

/* The exports for a service that runs jobs itself. */

export { createJobProcesses } from './jobs/job-processes.ts'
export { JOB_PROGRAM } from './jobs/job-program.ts'
export type { JobRunner } from './jobs/job-runner.ts'
export { startWorker, type Worker } from './jobs/worker.ts'
export { parseWorkerSettings, WORKER_SETTINGS, type WorkerSettings } from './jobs/worker-settings.ts'

/** See `createLastStateRunner`. Loads the indexer when it is called. */
export async function openLastStateRunner(deps: LastStateDeps): Promise<JobRunner> {
  const { createLastStateRunner } = await import('./jobs/last-state-runner.ts')
  return createLastStateRunner(deps)
}

/** Runs jobs in this process, for a store in its memory. Loads the indexer with the first job. */
export function createInProcessRunner(deps: JobDeps): JobRunner {
  return {
    async ready() {},
    async run(job, options) {
      const { runIndexJob } = await import('./jobs/run-index-job.ts')
      return await runIndexJob(deps, job, options)
    },
    async close() {},
  }
}
