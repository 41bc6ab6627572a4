import { fileURLToPath } from 'node:url'
import type { JobRunner } from '#indexer/jobs/job-runner.ts'
import type { JobDeps } from '#indexer/jobs/run-index-job.ts'
import type { WorktreeRunnerDeps } from '#indexer/jobs/worktree-runner.ts'

/** See `createWorktreeRunner`. Loads the indexer when it is called. */
export async function openWorktreeRunner(deps: WorktreeRunnerDeps): Promise<JobRunner> {
  const { createWorktreeRunner } = await import('#indexer/jobs/worktree-runner.ts')
  return createWorktreeRunner(deps)
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

/** The program of a job process. */
export const JOB_PROGRAM = fileURLToPath(new URL('./job-main.ts', import.meta.url))
