import { z } from 'zod'
import type { CommitSha } from './commit-sha.ts'
import { FAILURE_BACKOFF_SECONDS } from './limits.ts'
import type { HostRepository } from './ports/git-host.ts'
import type { StateStore } from './ports/state-store.ts'
import { damageKey } from './snapshot/store-keys.ts'

/**
 * Entry of the state store by which readers report a damaged snapshot to indexers. Without it, a job would find the header and do nothing.
 * The entry stays after the repair: recurring damage is repaired with an exponential backoff.
 */
const DamageEntry = z.object({
  state: z.enum(['reported', 'settled']),
  at: z.iso.datetime(),
  /** Settled reports, each within `FORGOTTEN_SECONDS` of the one before: the snapshot was rebuilt or found intact. */
  repairs: z.int().min(0),
})
type DamageEntry = z.infer<typeof DamageEntry>

export type DamageReport = Pick<DamageEntry, 'repairs'>

export interface DamageReports {
  /** Reports damage, once the backoff after the last repair has elapsed. Returns whether a report is open. */
  report(repository: HostRepository, commit: CommitSha, now: Date): Promise<boolean>
  /** The open report; `null` when there is none. */
  find(repository: HostRepository, commit: CommitSha): Promise<DamageReport | null>
  /** Closes the report: the snapshot is intact, or was rebuilt. Does nothing without an open report. */
  settle(repository: HostRepository, commit: CommitSha, now: Date): Promise<void>
}

/** Damage after this time starts without backoff. */
const FORGOTTEN_SECONDS = 24 * 3600

export function createDamageReports(states: StateStore): DamageReports {
  async function read(key: string): Promise<{ entry: DamageEntry | null; etag: string | null }> {
    const stored = await states.read(key)
    return { entry: DamageEntry.safeParse(stored?.value).data ?? null, etag: stored?.etag ?? null }
  }

  /** A conflict is no error: the other writer reports the same. */
  async function write(key: string, entry: DamageEntry, etag: string | null): Promise<void> {
    await (etag === null ? states.create(key, entry) : states.replace(key, entry, etag))
  }

  return {
    async report(repository, commit, now) {
      const key = damageKey(repository, commit)
      const { entry, etag } = await read(key)
      if (entry?.state === 'reported') return true
      const next = reported(entry, now)
      if (next) await write(key, next, etag)
      return next !== null
    },

    async find(repository, commit) {
      const { entry } = await read(damageKey(repository, commit))
      return entry?.state === 'reported' ? { repairs: entry.repairs } : null
    },

    async settle(repository, commit, now) {
      const key = damageKey(repository, commit)
      const { entry, etag } = await read(key)
      if (entry?.state !== 'reported') return
      await write(key, { state: 'settled', at: now.toISOString(), repairs: entry.repairs + 1 }, etag)
    },
  }
}

/** The entry after a report; `null` while the backoff has not elapsed. */
function reported(settled: DamageEntry | null, now: Date): DamageEntry | null {
  const at = now.toISOString()
  const seconds = settled === null ? Number.POSITIVE_INFINITY : (now.getTime() - Date.parse(settled.at)) / 1000
  if (settled === null || seconds > FORGOTTEN_SECONDS) return { state: 'reported', at, repairs: 0 }
  const { first, max } = FAILURE_BACKOFF_SECONDS
  const backoffSeconds = Math.min(max, first * 2 ** (settled.repairs - 1))
  return seconds < backoffSeconds ? null : { state: 'reported', at, repairs: settled.repairs }
}
