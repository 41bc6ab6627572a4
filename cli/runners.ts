import type { JobRunner } from '#indexer/jobs/job-runner.ts'
import type { LastStateDeps } from '#indexer/jobs/last-state-runner.ts'
import type { JobDeps } from '#indexer/jobs/run-index-job.ts'

/** See `createLastStateRunner`. Loads the indexer when it is called. */
export async function openLastStateRunner(deps: LastStateDeps): Promise<JobRunner> {
  const { createLastStateRunner } = await import('#indexer/jobs/last-state-runner.ts')
  return createLastStateRunner(deps)
}

/** Runs jobs in this process, for a store in its memory. Loads the indexer with the first job. */
export function createInProcessRunner(deps: JobDeps): JobRunner {
  return {
    async ready() {},
    async run(job, options) {
      const { runIndexJob } = await import('#indexer/jobs/run-index-job.ts')
      return await runIndexJob(deps, job, options)
    },
    async close() {},
  }
}
