import { HIDDEN_HOURS, OLD_VERSION_DAYS, UNUSED_PACK_HOURS } from '#core/limits.ts'
import type { JobEntry } from '#core/snapshot/index-state.ts'
import { type SnapshotName, VERSIONS } from '#core/snapshot/store-keys.ts'

/** The stored state of one repository that decisions depend on. */
export interface RepositoryState {
  headers: StoredHeader[]
  /** Entries that belong to a header. Orphans: their header is not in `headers`. */
  headerEntries: HeaderEntry[]
  jobs: StoredJob[]
  packs: ReadonlySet<string>
  /** Packs that headers list and that do not exist. */
  missingPacks: ReadonlySet<string>
  unusedPacks: UnusedPacks
  hidden: { key: string; since: Date | null } | null
}

export interface StoredHeader {
  key: string
  name: SnapshotName
  sizeBytes: number
  createdAt: Date
  /** `damaged`: written by this version and unreadable. `foreign`: another version may read it. */
  content: readonly Pack[] | 'damaged' | 'foreign'
}

export interface Pack {
  name: string
  sizeBytes: number
}

/** An entry that belongs to a header, for example a report of damage. */
export interface HeaderEntry {
  key: string
  /** The snapshot of the header; `null` when the entry cannot be read. */
  snapshot: SnapshotName | null
}

export interface StoredJob {
  key: string
  /** `null` when it cannot be read. */
  entry: JobEntry | null
  /** A queue marker exists: the job waits or runs. */
  isQueued: boolean
}

/** Packs that no header lists, by name. */
export type UnusedPacks = ReadonlyMap<string, UnusedPack>

export interface UnusedPack {
  /** When a sweep first found it unused. */
  since: Date
  /** `null` when unknown. */
  sizeBytes: number | null
}

/** Why a snapshot is removed. */
export type Reason =
  /** Written more than the given number of days ago. */
  | 'expired'
  /** Written by an earlier version, and the current one has indexed the repository. */
  | 'outdated'
  /** The host no longer shows the repository. */
  | 'hidden'
  /** Unreadable: it blocks a new index of its commit. */
  | 'damaged'
  /** Some of its packs are missing: it blocks a new index, too. */
  | 'incomplete'

export interface RepositoryPlan {
  headers: { header: StoredHeader; reason: Reason }[]
  /** Keys of the state store. */
  entries: string[]
  /** The entry that marks the repository as hidden, if it is to be removed: after everything else. */
  hiddenEntry: string | null
  /** Packs to remove, with their sizes where known. */
  packs: { name: string; sizeBytes: number | null }[]
  /** Unused packs that wait for a later sweep. */
  unusedPacks: UnusedPacks
  /** A header cannot be read: its packs are unknown, so all packs stay. */
  hasUnreadableHeader: boolean
  keptHeaders: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The longest time in which a job publishes its header and then checks its packs. */
const PUBLISHING_MS = HOUR_MS
/** A failure or an expired lease is obsolete after this time. */
const JOB_MS = DAY_MS
/** Unused packs noted at once. More are noted once these are removed. */
const UNUSED_PACKS = 2_000

/**
 * Decides what a sweep removes of a repository. Entries go with their header. Packs go in two steps: a sweep notes those that no header
 * lists, and a later sweep removes those that are still unused.
 *
 * @param days after which a snapshot is removed, counted from the writing of its header
 */
export function planRepository(state: RepositoryState, now: Date, days: number): RepositoryPlan {
  const isHidden = isHiddenForLong(state, now)
  const outdatedDays = isUpgraded(state, now) ? Math.min(days, OLD_VERSION_DAYS) : days
  const going = state.headers.flatMap(header => {
    const reason = isHidden ? 'hidden' : reasonToGo(header, state, now, { days, outdatedDays })
    return reason === null ? [] : [{ header, reason }]
  })
  const gone = new Set(going.map(({ header }) => header))
  const kept = state.headers.filter(header => !gone.has(header))
  const keptNames = new Set(kept.map(({ name }) => nameOf(name)))
  const orphans = state.headerEntries.filter(({ snapshot }) => snapshot === null || !keptNames.has(nameOf(snapshot)))
  return {
    headers: going,
    entries: [...orphans.map(({ key }) => key), ...state.jobs.filter(job => isJobOver(job, now)).map(({ key }) => key)],
    hiddenEntry: state.hidden && (isHidden || !isHiddenStill(state)) ? state.hidden.key : null,
    ...planPacks(state, kept, now),
    keptHeaders: kept.length,
  }
}

/** @param outdatedDays after which a snapshot of an earlier version is removed */
function reasonToGo(
  header: StoredHeader,
  { missingPacks }: RepositoryState,
  now: Date,
  { days, outdatedDays }: { days: number; outdatedDays: number },
): Reason | null {
  const { content, name, createdAt } = header
  if (content === 'damaged') return 'damaged'
  if (isOlderThan(days, header, now)) return 'expired'
  if (isOlderVersion(name.versions) && isOlderThan(outdatedDays, header, now)) return 'outdated'
  const isPublished = createdAt.getTime() < now.getTime() - PUBLISHING_MS
  if (content !== 'foreign' && isPublished && content.some(pack => missingPacks.has(pack.name))) return 'incomplete'
  return null
}

/**
 * Whether this version or a later one has served the repository for a while. Until then, processes of the earlier version may run beside it, or
 * come back.
 */
function isUpgraded({ headers }: RepositoryState, now: Date): boolean {
  return headers.some(header => !isOlderVersion(header.name.versions) && isOlderThan(OLD_VERSION_DAYS, header, now))
}

function isOlderThan(days: number, { createdAt }: StoredHeader, now: Date): boolean {
  return createdAt.getTime() < now.getTime() - days * DAY_MS
}

function planPacks(
  { headers, packs, unusedPacks: noted }: RepositoryState,
  kept: readonly StoredHeader[],
  now: Date,
): Pick<RepositoryPlan, 'packs' | 'unusedPacks' | 'hasUnreadableHeader'> {
  if (headers.some(({ content }) => typeof content === 'string'))
    return { packs: [], unusedPacks: noted, hasUnreadableHeader: true }
  const used = new Set(kept.flatMap(packsOf).map(({ name }) => name))
  const sizes = new Map(headers.flatMap(packsOf).map(({ name, sizeBytes }) => [name, sizeBytes]))
  const unused = [...packs].filter(name => !used.has(name))
  const due = unused.filter(name => isDue(noted.get(name), now))
  const waiting = unused.filter(name => !isDue(noted.get(name), now))
  const written = [...waiting.filter(name => noted.has(name)), ...waiting.filter(name => !noted.has(name))].slice(0, UNUSED_PACKS)
  const sizeOf = (name: string) => noted.get(name)?.sizeBytes ?? sizes.get(name) ?? null
  return {
    packs: due.map(name => ({ name, sizeBytes: sizeOf(name) })),
    unusedPacks: new Map(written.map(name => [name, { since: sinceOf(noted.get(name), now), sizeBytes: sizeOf(name) }])),
    hasUnreadableHeader: false,
  }
}

/** The packs that a header lists; empty when they are unknown. */
function packsOf({ content }: StoredHeader): readonly Pack[] {
  return typeof content === 'string' ? [] : content
}

// `since` was written by a sweep, so only the clocks of sweeping machines matter.
function isDue(pack: UnusedPack | undefined, now: Date): boolean {
  return pack !== undefined && pack.since.getTime() <= now.getTime() - UNUSED_PACK_HOURS * HOUR_MS
}

/** A time in the future comes from a wrong clock and counts as now. */
function sinceOf(pack: UnusedPack | undefined, now: Date): Date {
  return pack === undefined || pack.since > now ? now : pack.since
}

/** Noted as hidden, and not indexed since. A visit that finds it shown removes the note. */
function isHiddenStill({ hidden, headers }: RepositoryState): boolean {
  const since = hidden?.since?.getTime()
  // A job that ran at that time may have published the header.
  return since !== undefined && headers.every(({ createdAt }) => createdAt.getTime() <= since + PUBLISHING_MS)
}

function isHiddenForLong(state: RepositoryState, now: Date): boolean {
  const since = state.hidden?.since?.getTime()
  return since !== undefined && since < now.getTime() - HIDDEN_HOURS * HOUR_MS && isHiddenStill(state)
}

/**
 * Whether the entry of a job is obsolete: the job ended, or the next visit starts it again. A queue server has its own markers; a released
 * job that waits there loses its count of crashes.
 */
function isJobOver({ entry, isQueued }: StoredJob, now: Date): boolean {
  if (isQueued) return false
  if (entry === null || entry.state === 'released') return true
  return Date.parse(entry.state === 'failed' ? entry.retryAt : entry.until) < now.getTime() - JOB_MS
}

/** Whether only earlier versions of the software read it. */
export function isOlderVersion(versions: string): boolean {
  return versions !== VERSIONS && !isLaterVersion(versions)
}

/** Whether a later version of the software wrote it. An unknown form of version counts as later. */
export function isLaterVersion(versions: string): boolean {
  const [ours, theirs] = [numbersOf(VERSIONS), numbersOf(versions)]
  return ours === null || theirs === null || theirs.some((number, index) => number > (ours[index] ?? 0))
}

function numbersOf(versions: string): number[] | null {
  const [, ...numbers] = /^r(\d+)f(\d+)s(\d+)$/.exec(versions) ?? []
  return numbers.length === 0 ? null : numbers.map(Number)
}

/** The name of a snapshot as a map key. */
export function nameOf({ commit, versions }: SnapshotName): string {
  return `${commit}/${versions}`
}
