import type { DamageReports } from '#core/damage-reports.ts'
import { ServiceError } from '#core/errors.ts'
import type { IndexJob, JobState } from '#core/ports/job-queue.ts'
import { framesOf } from '#core/scrubbed.ts'
import type { Deps } from '../deps.ts'
import type { SnapshotDamage } from '../snapshot/header-cache.ts'

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

interface RepairDeps extends Pick<Deps, 'queue' | 'onOffered' | 'clock'> {
  damages: DamageReports
  log: { error(fields: object, message: string): void }
}

/**
 * Has a damaged snapshot built again: stores a report, which tells the indexer to rebuild although a header exists, and offers a job.
 * It is logged once.
 *
 * @throws when a store does not answer; the next read of the damage reports it again
 */
export async function requestRepair(deps: RepairDeps, { repository, commit, isNew, cause }: SnapshotDamage): Promise<void> {
  const err = repository.visibility === 'public' ? cause : framesOf(cause)
  if (isNew) deps.log.error({ err, repository: repository.id, commit }, 'the snapshot is damaged and will be rebuilt')
  if (await deps.damages.report(repository, commit, deps.clock.now())) await requestIndexing(deps, { repository, commit })
}
