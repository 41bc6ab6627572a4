import { z } from 'zod'
import type { CommitSha } from './commit-sha.ts'
import { FAILURE_BACKOFF_SECONDS } from './limits.ts'
import type { HostRepository } from './ports/git-host.ts'
import type { StateStore } from './ports/state-store.ts'
import { damageKey } from './snapshot/store-keys.ts'

/**
 * What readers tell indexers: the snapshot of this commit is not what was written. A job by itself would find its header, and do nothing.
 * The document stays after the repair, so that damage that comes back is repaired less and less often.
 */
const DamageEntry = z.object({
  state: z.enum(['reported', 'settled']),
  at: z.iso.datetime(),
  /** How often it was settled, one soon after the other. */
  repairs: z.int().min(0),
})
type DamageEntry = z.infer<typeof DamageEntry>

export type DamageReport = Pick<DamageEntry, 'repairs'>

export interface DamageReports {
  /** Leaves the report, unless it was settled so lately that it has to wait. Whether there is something for an indexer to do. */
  report(repository: HostRepository, commit: CommitSha, now: Date): Promise<boolean>
  /** The report that nobody has settled. */
  find(repository: HostRepository, commit: CommitSha): Promise<DamageReport | null>
  /** The snapshot is what was written, or was written again. */
  settle(repository: HostRepository, commit: CommitSha, now: Date): Promise<void>
}

/** After so long damage has nothing to do with that before. */
const FORGOTTEN_SECONDS = 24 * 3600

export function createDamageReports(states: StateStore): DamageReports {
  async function read(key: string): Promise<{ record: DamageEntry | null; etag: string | null }> {
    const stored = await states.read(key)
    return { record: DamageEntry.safeParse(stored?.value).data ?? null, etag: stored?.etag ?? null }
  }

  /** Of those who write at once one does: they say the same. */
  async function write(key: string, record: DamageEntry, etag: string | null): Promise<void> {
    await (etag === null ? states.create(key, record) : states.replace(key, record, etag))
  }

  return {
    async report(repository, commit, now) {
      const key = damageKey(repository, commit)
      const { record, etag } = await read(key)
      if (record?.state === 'reported') return true
      const next = reported(record, now)
      if (next) await write(key, next, etag)
      return next !== null
    },

    async find(repository, commit) {
      const { record } = await read(damageKey(repository, commit))
      return record?.state === 'reported' ? { repairs: record.repairs } : null
    },

    async settle(repository, commit, now) {
      const key = damageKey(repository, commit)
      const { record, etag } = await read(key)
      if (record) await write(key, { state: 'settled', at: now.toISOString(), repairs: record.repairs + 1 }, etag)
    },
  }
}

function reported(settled: DamageEntry | null, now: Date): DamageEntry | null {
  const at = now.toISOString()
  const seconds = settled === null ? Number.POSITIVE_INFINITY : (now.getTime() - Date.parse(settled.at)) / 1000
  if (settled === null || seconds > FORGOTTEN_SECONDS) return { state: 'reported', at, repairs: 0 }
  const { first, max } = FAILURE_BACKOFF_SECONDS
  const backoffSeconds = Math.min(max, first * 2 ** (settled.repairs - 1))
  return seconds < backoffSeconds ? null : { state: 'reported', at, repairs: settled.repairs }
}
