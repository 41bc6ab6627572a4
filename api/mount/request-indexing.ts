import { ServiceError } from '#core/errors.ts'
import type { IndexJob, JobState } from '#core/ports/job-queue.ts'
import type { Deps } from '../deps.ts'

/**
 * Leaves a job unless there is one, and tells its state.
 *
 * @throws ServiceError `skill.unavailable` when the store takes no job
 */
export async function requestIndexing(deps: Pick<Deps, 'queue' | 'onOffered'>, job: IndexJob): Promise<JobState> {
  try {
    const state = await deps.queue.offer(job)
    if (state.status === 'indexing') deps.onOffered()
    return state
  } catch (cause) {
    throw new ServiceError('skill.unavailable', { cause })
  }
}
