import type { CommitSha } from '../commit-sha.ts'
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

/** What a job of the default branch takes over from the jobs that it supersedes. */
export interface Succession {
  turnAt: Date
  superseded: CommitSha[]
}

/** Superseded commits that a job remembers. */
const SUPERSEDED_COMMITS = 32

/**
 * The turn of a job of the default branch. It is never put off or refused, so it comes before other jobs of its repository: visitors do not
 * choose it. Only one waits, since a branch has one current commit: a new job supersedes it and takes its turn, so that frequent pushes do
 * not put off the job.
 *
 * @param own the job of the same commit, if it waits under another name: it is not put off either
 * @param waiting jobs of the default branch that the new job supersedes
 * @param others all other jobs of the repository. A running job of the default branch ends by itself, but the new job takes over its commit
 * and the commits that it superseded, which would be forgotten with it
 */
export function succeed(
  offeredAt: Date,
  own: QueueMarker | null,
  waiting: readonly QueueMarker[],
  others: readonly QueueMarker[],
): Succession {
  const earlier = own === null ? waiting : [own, ...waiting]
  // Waiting jobs come first: they are newer than running ones.
  const defaults = [...waiting, ...others.filter(({ isDefault }) => isDefault)]
  const superseded = new Set(defaults.flatMap(({ commit, superseded = [] }) => [commit, ...superseded]))
  return {
    turnAt: new Date(Math.min(offeredAt.getTime(), ...earlier.map(marker => turnAtOf(marker).getTime()))),
    superseded: [...superseded].slice(0, SUPERSEDED_COMMITS),
  }
}

/**
 * Whether a job of the repository superseded the commit. A process that offers it as that of the default branch has an older answer of the
 * host, so it must not supersede the newer commit: it is offered as a commit of any other ref.
 */
export function isSuperseded(commit: CommitSha, others: readonly QueueMarker[]): boolean {
  return others.some(({ superseded }) => superseded?.includes(commit))
}

/** Jobs of earlier versions have no turn: they wait since they were offered. */
export function turnAtOf({ turnAt, offeredAt }: Pick<QueueMarker, 'turnAt' | 'offeredAt'>): Date {
  return new Date(turnAt ?? offeredAt)
}
