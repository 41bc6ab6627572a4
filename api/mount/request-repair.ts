import type { DamageReports } from '#core/damage-reports.ts'
import type { Deps } from '../deps.ts'
import type { SnapshotDamage } from '../snapshot/header-cache.ts'
import { requestIndexing } from './request-indexing.ts'

export interface RepairDeps extends Pick<Deps, 'queue' | 'onOffered' | 'clock'> {
  damages: DamageReports
  log: { error(fields: object, message: string): void }
}

/**
 * Has a damaged snapshot built again: leaves a report, which tells an indexer that the header is not all, and a job.
 * The log hears of it once, however many visitors come upon it.
 *
 * @throws when a store does not answer; the next visitor reports it again
 */
export async function requestRepair(deps: RepairDeps, { repository, commit, isNew, cause }: SnapshotDamage): Promise<void> {
  if (isNew) deps.log.error({ err: cause, repository: repository.id, commit }, 'a snapshot is damaged, and has to be built again')
  if (await deps.damages.report(repository, commit, deps.clock.now())) await requestIndexing(deps, { repository, commit })
}
