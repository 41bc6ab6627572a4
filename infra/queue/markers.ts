import { z } from 'zod'
import { OLD_VERSION_DAYS } from '#core/limits.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { QueueMarker } from '#core/snapshot/index-state.ts'
import { turnAtOf } from '#core/snapshot/job-turns.ts'
import { isQueueKeyOfOurs, QUEUE_PREFIX, queueKey, repositoryQueuePrefix } from '#core/snapshot/store-keys.ts'

export interface KnownMarker {
  key: string
  marker: QueueMarker
  /** Equal for jobs of one repository, which run one after another. */
  repository: string
  /** When the job is due among all jobs, in milliseconds since 1970. */
  turnAt: number
  /** The lease is not looked up again before this instant, in milliseconds since 1970. */
  heldUntil: number
  /** Until when a worker has the lease, as last read, in milliseconds since 1970. */
  runsUntil: number
}

/** Keys in one listing. Where more jobs wait, the next listing starts after them. */
const LISTED = 1_000
/** Markers read after one listing. */
const MARKERS = 100
const READS_AT_ONCE = 16
/** Markers cached in memory: of more, those whose turn comes first. */
const CACHED = 10_000

/**
 * The markers of a store, each read once and then cached. Where more jobs wait than one listing returns, the known markers come first, and
 * later listings return the others.
 *
 * When a marker was removed and offered again, or promoted by another process, the cache keeps the turn that was read first; its key
 * determines repository and commit.
 */
export class Markers {
  readonly #states: StateStore
  readonly #clock: Clock
  readonly #cached: number
  readonly #known = new Map<string, KnownMarker>()
  /** Markers of other versions, with the instant from which they are read again. */
  readonly #ofOthers = new Map<string, number>()
  #unread: string[] = []
  /** The last key of the listing before. */
  #after = ''

  /** @param cached markers kept in memory */
  constructor(states: StateStore, clock: Clock, cached: number = CACHED) {
    this.#states = states
    this.#clock = clock
    this.#cached = cached
  }

  /** Lists, reads some new markers, and returns all known ones: those that were leased at the last look, then the others in turn. */
  async inTurn(): Promise<KnownMarker[]> {
    await this.#list()
    await this.#readSome()
    const wasLeased = ({ runsUntil }: KnownMarker) => Number(runsUntil > 0)
    const inTurn = [...this.#known.values()].sort((a, b) => wasLeased(b) - wasLeased(a) || a.turnAt - b.turnAt)
    // A later listing returns the dropped ones, so that they are read again. Otherwise no job could come before those that are known.
    for (const { key } of inTurn.splice(this.#cached)) this.#known.delete(key)
    return inTurn
  }

  async remove(key: string): Promise<void> {
    this.#known.delete(key)
    await this.#states.remove(key)
  }

  /** Notes that no worker has the lease. */
  free(key: string): void {
    const marker = this.#known.get(key)
    if (marker) Object.assign(marker, { heldUntil: 0, runsUntil: 0 })
  }

  /** Reads the marker again at the next look. */
  forget(key: string): void {
    this.#known.delete(key)
  }

  async #list(): Promise<void> {
    const page = await this.#states.list(QUEUE_PREFIX, { after: this.#after, limit: LISTED })
    const end = page.length === LISTED ? page.at(-1) : undefined
    const isListed = (key: string) => key > this.#after && (end === undefined || key <= end)
    this.#dropRemoved(new Set(page), isListed)
    const now = this.#clock.now().getTime()
    const isNew = (key: string) => !this.#known.has(key) && (this.#ofOthers.get(key) ?? 0) <= now
    this.#unread = [...this.#unread.filter(key => !isListed(key)), ...page.filter(isNew)].slice(0, CACHED)
    this.#after = end ?? ''
  }

  #dropRemoved(present: ReadonlySet<string>, isListed: (key: string) => boolean): void {
    for (const cache of [this.#known, this.#ofOthers])
      for (const key of cache.keys()) if (isListed(key) && !present.has(key)) cache.delete(key)
  }

  async #readSome(): Promise<void> {
    const keys = this.#unread.splice(0, MARKERS)
    // In groups, so that a store that fails gets no further requests.
    for (let start = 0; start < keys.length; start += READS_AT_ONCE) {
      await Promise.all(keys.slice(start, start + READS_AT_ONCE).map(key => this.#read(key)))
    }
  }

  async #read(key: string): Promise<void> {
    if (isQueueKeyOfOurs(key)) {
      const marker = await readMarker(this.#states, key)
      if (marker !== null) this.#known.set(key, knownOf(key, marker))
      return
    }
    const until = await keepForOthers(this.#states, key, this.#clock.now())
    if (until !== null) this.#ofOthers.set(key, until)
  }
}

function knownOf(key: string, marker: QueueMarker): KnownMarker {
  const repository = repositoryQueuePrefix(marker.repository)
  return { key, marker, repository, turnAt: turnAtOf(marker).getTime(), heldUntil: 0, runsUntil: 0 }
}

/** The marker at the key; `null` when there is none, or one that no worker can parse. Removes the latter: it would stay forever. */
export async function readMarker(states: StateStore, key: string): Promise<QueueMarker | null> {
  const stored = await states.read(key)
  if (stored === null) return null
  const marker = QueueMarker.safeParse(stored.value).data
  if (marker && queueKey(marker.repository, marker.commit) === key) return marker
  await states.remove(key)
  return null
}

const OfferedAt = z.object({ offeredAt: z.iso.datetime() })

/**
 * Until when a marker of other reading rules is left to their workers, in milliseconds since 1970: during an upgrade, versions run side by
 * side. `null` when that time is over: removes the marker.
 */
async function keepForOthers(states: StateStore, key: string, now: Date): Promise<number | null> {
  const offered = OfferedAt.safeParse((await states.read(key))?.value).data
  const until = offered ? Date.parse(offered.offeredAt) + OLD_VERSION_DAYS * DAY_MS : 0
  if (now.getTime() < until) return until
  await states.remove(key)
  return null
}

const DAY_MS = 86_400_000
