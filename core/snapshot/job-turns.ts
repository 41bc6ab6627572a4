import { JOB_TURN_SECONDS, REPOSITORY_JOBS } from '../limits.ts'
import type { IndexJob } from '../ports/job-queue.ts'

/**
 * The instant by which a queue orders the job: each job of the same repository before it puts it off by `JOB_TURN_SECONDS`, so that a
 * repository with many jobs delays others by one of them. The order is in the job itself: it survives restarts, and all workers share it.
 * A job of the default branch is never put off or refused, so it comes before other jobs of its repository: there is one current commit of it,
 * and visitors do not choose it.
 *
 * @param others jobs of the repository that wait or run
 * @returns `null` when these are too many: a later offer adds the job
 */
export function turnOf({ isDefault }: Pick<IndexJob, 'isDefault'>, offeredAt: Date, others: number): Date | null {
  if (isDefault) return offeredAt
  return others >= REPOSITORY_JOBS ? null : new Date(offeredAt.getTime() + others * JOB_TURN_SECONDS * 1000)
}
