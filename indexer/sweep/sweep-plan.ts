import { HIDDEN_HOURS, OLD_VERSION_DAYS, UNUSED_PACK_HOURS } from '#core/limits.ts'
import type { JobEntry } from '#core/snapshot/index-state.ts'
import type { SeenRef } from '#core/snapshot/retention.ts'
import { type SnapshotName, VERSIONS } from '#core/snapshot/store-keys.ts'

/** What is stored of one repository, as far as deciding needs to know it. */
export interface RepositoryState {
  headers: StoredHeader[]
  /** Documents that stand beside headers. Those that name a header that is not in `headers` stand beside none. */
  beside: StandingBeside[]
  refs: { key: string; seen: SeenRef | null }[]
  jobs: StoredJob[]
  packs: ReadonlySet<string>
  /** Of the packs that headers name: those that were looked for and are not there. */
  missingPacks: ReadonlySet<string>
  unusedPacks: UnusedPacks
  hidden: { key: string; since: Date | null } | null
}

export interface StoredHeader {
  key: string
  name: SnapshotName
  sizeBytes: number
  createdAt: Date
  /** The end of the day on which it was opened last; `null` when nobody did, or when it does not matter. */
  readUntil: Date | null
  /** `damaged`: no reader of this version can read it. `foreign`: a reader of another version may. */
  content: readonly Pack[] | 'damaged' | 'foreign'
}

export interface Pack {
  name: string
  sizeBytes: number
}

export interface StandingBeside {
  key: string
  /** `null`: it cannot be read. */
  snapshot: SnapshotName | null
}

export interface StoredJob {
  key: string
  record: JobEntry | null
  /** A marker says that the job waits or runs. */
  isQueued: boolean
}

/** Packs that no header refers to, by name. */
export type UnusedPacks = ReadonlyMap<string, UnusedPack>

export interface UnusedPack {
  /** When this was found. */
  since: Date
  /** `null`: nobody knows. */
  sizeBytes: number | null
}

/** Why a snapshot goes. */
export type Reason =
  /** Nobody opened it for the days that were asked for. */
  | 'unread'
  /** Only an earlier version of this software reads it, and nobody did. */
  | 'outdated'
  /** The host does not show the repository any more. */
  | 'hidden'
  /** It cannot be read, so it stands in the way of one that can. */
  | 'damaged'
  /** Some of its packs are gone: likewise. */
  | 'incomplete'

export interface RepositoryPlan {
  headers: { header: StoredHeader; reason: Reason }[]
  documents: string[]
  /** The document that says that the repository is hidden, when it goes: after everything that goes because of it. */
  forgottenHidden: string | null
  /** Packs to be removed, with the size where it is known. */
  packs: { name: string; sizeBytes: number | null }[]
  /** What is unused and waits: as it is to be written down. */
  unusedPacks: UnusedPacks
  /** A header cannot be read, so nobody knows which packs it refers to, and all of them stay. */
  isOpaque: boolean
  keptHeaders: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** No job takes longer, until it has published its header and looked once more whether all packs are there. */
const PUBLISHING_MS = HOUR_MS
/** What a failure or a lease that nobody renews says is of no use to anyone after so long. */
const JOB_MS = DAY_MS
/** Unused packs that are written down. Further ones are, once these are gone. */
const UNUSED_PACKS = 2_000

/**
 * Decides what of a repository goes now. What depends on a header goes with it; packs go in two steps: those that no header refers to are
 * written down, and removed by a later sweep when they still are unused then.
 *
 * @param days after which what nobody opened goes
 */
export function planRepository(state: RepositoryState, now: Date, days: number): RepositoryPlan {
  const isHidden = isHiddenForLong(state, now)
  const seen = new Set(state.refs.flatMap(ref => (isSeenWithin(ref.seen, now, days) ? ref.seen.commit : [])))
  const going = state.headers.flatMap(header => {
    const reason = isHidden ? 'hidden' : reasonToGo(header, state, seen, now, days)
    return reason === null ? [] : [{ header, reason }]
  })
  const gone = new Set(going.map(({ header }) => header))
  const kept = state.headers.filter(header => !gone.has(header))
  const keptNames = new Set(kept.map(({ name }) => nameOf(name)))
  const alone = state.beside.filter(({ snapshot }) => snapshot === null || !keptNames.has(nameOf(snapshot)))
  return {
    headers: going,
    documents: [
      ...alone.map(({ key }) => key),
      ...state.refs.filter(({ seen }) => isHidden || !isSeenWithin(seen, now, days)).map(({ key }) => key),
      ...state.jobs.filter(job => isJobOver(job, now)).map(({ key }) => key),
    ],
    forgottenHidden: state.hidden && (isHidden || !isHiddenStill(state)) ? state.hidden.key : null,
    ...planPacks(state, kept, now),
    keptHeaders: kept.length,
  }
}

/** @param seen commits that a ref pointed at when somebody opened it */
function reasonToGo(
  header: StoredHeader,
  { missingPacks }: RepositoryState,
  seen: ReadonlySet<string>,
  now: Date,
  days: number,
): Reason | null {
  const { content, name, createdAt, readUntil } = header
  if (content === 'damaged') return 'damaged'
  const isOlder = isOlderVersion(name.versions)
  const lastUse = Math.max(createdAt.getTime(), readUntil?.getTime() ?? 0)
  const isKeptByRef = !isOlder && seen.has(name.commit)
  const keptDays = isOlder ? Math.min(days, OLD_VERSION_DAYS) : days
  if (!isKeptByRef && lastUse < now.getTime() - keptDays * DAY_MS) return isOlder ? 'outdated' : 'unread'
  const isPublished = createdAt.getTime() < now.getTime() - PUBLISHING_MS
  if (content !== 'foreign' && isPublished && content.some(pack => missingPacks.has(pack.name))) return 'incomplete'
  return null
}

function planPacks(
  { headers, packs, unusedPacks: noted }: RepositoryState,
  kept: readonly StoredHeader[],
  now: Date,
): Pick<RepositoryPlan, 'packs' | 'unusedPacks' | 'isOpaque'> {
  if (headers.some(({ content }) => typeof content === 'string')) return { packs: [], unusedPacks: noted, isOpaque: true }
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
    isOpaque: false,
  }
}

/** The packs that a header refers to. */
function packsOf({ content }: StoredHeader): readonly Pack[] {
  return typeof content === 'string' ? [] : content
}

// The instant is that of a sweep, so no other clock matters than those of the machines that sweep.
function isDue(pack: UnusedPack | undefined, now: Date): boolean {
  return pack !== undefined && pack.since.getTime() <= now.getTime() - UNUSED_PACK_HOURS * HOUR_MS
}

/** An instant that is yet to come was written by a clock that went wrong. */
function sinceOf(pack: UnusedPack | undefined, now: Date): Date {
  return pack === undefined || pack.since > now ? now : pack.since
}

/** Hidden, and nobody was shown it since. */
function isHiddenStill({ hidden, headers, refs }: RepositoryState): boolean {
  const since = hidden?.since?.getTime()
  if (since === undefined) return false
  const isSeen = refs.some(({ seen }) => seen !== null && Date.parse(seen.seenAt) >= since)
  const isShown = headers.some(({ createdAt, readUntil }) => {
    // A job that was under way then may have published it. Of the day on which it was opened nobody knows the hour.
    return createdAt.getTime() > since + PUBLISHING_MS || (readUntil !== null && readUntil.getTime() - DAY_MS > since)
  })
  return !isSeen && !isShown
}

function isHiddenForLong(state: RepositoryState, now: Date): boolean {
  const since = state.hidden?.since?.getTime()
  return since !== undefined && since < now.getTime() - HIDDEN_HOURS * HOUR_MS && isHiddenStill(state)
}

function isSeenWithin(seen: SeenRef | null, now: Date, days: number): seen is SeenRef {
  return seen !== null && Date.parse(seen.seenAt) >= now.getTime() - days * DAY_MS
}

/**
 * Whether the record of a job tells nobody anything any more: it ended, or the next visitor starts it anew. A queue server has its own
 * markers; then a job that waits there, handed back, loses the count of the workers that died over it.
 */
function isJobOver({ record, isQueued }: StoredJob, now: Date): boolean {
  if (isQueued) return false
  if (record === null || record.state === 'released') return true
  return Date.parse(record.state === 'failed' ? record.retryAt : record.until) < now.getTime() - JOB_MS
}

/** Whether only earlier builds read it. */
export function isOlderVersion(versions: string): boolean {
  return versions !== VERSIONS && !isLaterVersion(versions)
}

/** Whether a later build wrote it. What is no version that this build knows of is such. */
export function isLaterVersion(versions: string): boolean {
  const [ours, theirs] = [numbersOf(VERSIONS), numbersOf(versions)]
  return ours === null || theirs === null || theirs.some((number, index) => number > (ours[index] ?? 0))
}

function numbersOf(versions: string): number[] | null {
  const [, ...numbers] = /^r(\d+)f(\d+)s(\d+)$/.exec(versions) ?? []
  return numbers.length === 0 ? null : numbers.map(Number)
}

/** One text for the name of a snapshot. */
export function nameOf({ commit, versions }: SnapshotName): string {
  return `${commit}/${versions}`
}
