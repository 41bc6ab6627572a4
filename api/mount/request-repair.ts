import type { DamageReports } from '#core/damage-reports.ts'
import { framesOf } from '#core/logged-cause.ts'
import type { Deps } from '../deps.ts'
import type { SnapshotDamage } from '../snapshot/header-cache.ts'
import { requestIndexing } from './request-indexing.ts'

export interface RepairDeps extends Pick<Deps, 'queue' | 'onOffered' | 'clock'> {
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
