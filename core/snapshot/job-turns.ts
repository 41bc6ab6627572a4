import { JOB_TURN_SECONDS, REPOSITORY_JOBS } from '../limits.ts'
import type { QueueMarker } from './index-state.ts'

/**
 * The instant by which a queue orders a job: each job of the same repository before it puts it off by `JOB_TURN_SECONDS`, so that a
 * repository with many jobs delays others by one of them. The order is in the job itself: it survives restarts, and all workers share it.
 *
 * @param others jobs of the repository that wait or run
 * @returns `null` when these are too many: a later offer adds the job
 */
export function turnOf(offeredAt: Date, others: number): Date | null {
  return others >= REPOSITORY_JOBS ? null : new Date(offeredAt.getTime() + others * JOB_TURN_SECONDS * 1000)
}

/**
 * The same for a job of the default branch. It is never put off or refused, so it comes before other jobs of its repository: visitors do not
 * choose it. Only one waits, since a branch has one current commit: a new job supersedes it and takes its turn, so that frequent pushes do
 * not put off the job. The commit that was superseded may be offered again as any other commit.
 *
 * @param superseded jobs of the default branch that waited until now
 */
export function turnOfDefault(offeredAt: Date, superseded: readonly QueueMarker[]): Date {
  return new Date(Math.min(offeredAt.getTime(), ...superseded.map(marker => turnAtOf(marker).getTime())))
}

/** Jobs of earlier versions have no turn: they wait since they were offered. */
export function turnAtOf({ turnAt, offeredAt }: Pick<QueueMarker, 'turnAt' | 'offeredAt'>): Date {
  return new Date(turnAt ?? offeredAt)
}
