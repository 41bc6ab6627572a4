import { ServiceError } from '#core/errors.ts'
import type { IndexJob, JobState } from '#core/ports/job-queue.ts'
import type { Deps } from '../deps.ts'

/**
 * Offers an index job, unless there is one, and returns its state.
 *
 * @throws ServiceError `skill.unavailable` when the store does not answer
 */
export async function requestIndexing(deps: Pick<Deps, 'queue' | 'onOffered'>, job: IndexJob): Promise<JobState> {
  try {
    const state = await deps.queue.offer(job)
    if (state.status === 'indexing') deps.onOffered(job)
    return state
  } catch (cause) {
    throw new ServiceError('skill.unavailable', { cause })
  }
}
