import { LRUCache } from 'lru-cache'
import { createLimit, GateFull, type Limit } from '#core/concurrency/fair-gate.ts'
import type { Clock } from '#core/ports/system.ts'
import { FetchTooLarge } from './fetch.ts'
import type { TipSet } from './history.ts'
import type { GitResources } from './process.ts'
import { isCommitOfHost, ScratchHistory, type ScratchHistoryOptions } from './scratch-history.ts'
import type { Remote } from './upload-pack.ts'

/** A repository of a git host. */
export interface HistorySource {
  /** Survives a rename. */
  id: string
  remote: Remote
}

/**
 * Answers questions that only the commits of a repository can answer. Commits are fetched without trees and cached for some minutes in a
 * scratch repository, so later calls of `leadTo` fetch nothing, or only new commits; `isCommit` fetches one commit at each call. Questions
 * about one repository take turns: a slow repository holds one place of the fetch gate, and questions that wait for a fetch share its failure.
 */
export interface CommitGraphCache {
  /** Whether a tip leads to the commit. @throws GateFull when too many questions wait, FetchTooLarge, GitError, or the error of the fetch */
  leadTo(source: HistorySource, tips: TipSet, commit: string): Promise<boolean>
  /** Whether the host gives out a commit under this id. Fetches that commit alone. @throws as `leadTo` */
  isCommit(source: HistorySource, oid: string): Promise<boolean>
  /** Waits for the questions that `closing` aborted, and removes every scratch repository. */
  close(): Promise<void>
}

export interface HistoryBounds {
  /** Repositories whose history is cached. */
  repositories: number
  /** Disk space of all cached histories. */
  bytes: number
  /** Lifetime of a cached history, from its first fetch. Shorter than the age at which `removeLeftoverViews` removes folders. */
  milliseconds: number
}

/** Enough for one of the largest histories, or for some hundred of the usual size. */
export const HISTORY_BOUNDS: HistoryBounds = { repositories: 8, bytes: 768 * 1024 * 1024, milliseconds: 600_000 }

export interface CommitGraphCacheOptions {
  clock: Clock
  /** Aborts everything under way. */
  closing: AbortSignal
  /** Default: `HISTORY_BOUNDS`. */
  bounds?: HistoryBounds
  /** Limits of one fetch. Default: those of `fetchTrees`. */
  resources?: GitResources
}

/** Fetches at once; each may take hundreds of megabytes on disk. */
const FETCHES = 2
/** Walks of a history at once, each of another repository: they take a core for up to a second. */
const WALKS = 2
/** Repositories that may wait for a fetch. */
const WAITING_REPOSITORIES = 16
/** A repository whose fetch exceeded a resource limit or the time limit is not fetched again for this long. */
const TOO_LARGE_SECONDS = 600
const TOO_LARGE_BYTES = 4 * 1024 * 1024
/** Estimated memory of an error with its cause, and the key. */
const FAILURE_BYTES = 4_096

export function createCommitGraphCache({
  clock,
  closing,
  bounds = HISTORY_BOUNDS,
  resources,
}: CommitGraphCacheOptions): CommitGraphCache {
  return new ScratchCommitGraphs(clock, bounds, closing, resources)
}

class ScratchCommitGraphs implements CommitGraphCache {
  readonly #clock: Clock
  readonly #bounds: HistoryBounds
  /** In order: a repository takes one place, since its questions take turns, so none overtakes the others. */
  readonly #fetchLimit: Limit = createLimit(FETCHES, WAITING_REPOSITORIES)
  readonly #options: ScratchHistoryOptions
  /** By repository id, least recently used first. */
  readonly #histories = new Map<string, RepositoryHistory>()
  /** By repository id. `foundAt`: milliseconds since 1970. */
  readonly #tooLarge = new LRUCache<string, { error: unknown; foundAt: number }>({
    maxSize: TOO_LARGE_BYTES,
    sizeCalculation: () => FAILURE_BYTES,
  })
  readonly #running = new Set<Promise<unknown>>()

  constructor(clock: Clock, bounds: HistoryBounds, closing: AbortSignal, resources: GitResources | undefined) {
    this.#clock = clock
    this.#bounds = bounds
    const onExpired = () => this.#evict()
    this.#options = {
      closing,
      resources,
      fetchLimit: this.#fetchLimit,
      walkLimit: createLimit(WALKS),
      lifetimeMs: bounds.milliseconds,
      onExpired,
    }
  }

  leadTo(source: HistorySource, tips: TipSet, commit: string): Promise<boolean> {
    return this.#track(this.#leadTo(source, tips, commit))
  }

  isCommit({ id, remote }: HistorySource, oid: string): Promise<boolean> {
    return this.#track(this.#ask(id, () => this.#fetchLimit(() => isCommitOfHost(this.#options, remote, oid))))
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#running)
    for (const history of this.#histories.values()) history.discard()
    this.#histories.clear()
    await Promise.allSettled(this.#running)
  }

  async #leadTo({ id, remote }: HistorySource, tips: TipSet, commit: string): Promise<boolean> {
    if (tips.oids.length === 0) return false
    return this.#ask(id, async (history, failureBefore) => {
      this.#throwIfTooLarge(id)
      history.throwIfFailedSince(failureBefore)
      try {
        return await history.leadsTo(remote, tips, commit)
      } catch (error) {
        if (isTooLarge(error)) this.#tooLarge.set(id, { error, foundAt: this.#now() })
        throw error
      }
    })
  }

  async #ask<Value>(
    id: string,
    question: (history: RepositoryHistory, failureBefore: Failure | null) => Promise<Value>,
  ): Promise<Value> {
    const history = this.#histories.get(id) ?? new RepositoryHistory(this.#options, removal => void this.#track(removal))
    // Makes it the most recently used.
    this.#histories.delete(id)
    this.#histories.set(id, history)
    try {
      return await history.ask(failureBefore => question(history, failureBefore))
    } finally {
      this.#evict()
    }
  }

  #throwIfTooLarge(id: string): void {
    const known = this.#tooLarge.get(id)
    if (known && this.#now() - known.foundAt < TOO_LARGE_SECONDS * 1000) throw known.error
  }

  /** Discards expired and surplus histories, and forgets repositories without one. */
  #evict(): void {
    const cached = [...this.#histories.values()].flatMap(history =>
      history.scratch === null
        ? []
        : { history, isUsed: history.isUsed, isOld: history.scratch.isExpired, bytes: history.scratch.bytes },
    )
    for (const { history } of surplusAmong(cached, this.#bounds)) history.discard()
    for (const [id, history] of this.#histories) {
      if (!history.isUsed && history.scratch === null) this.#histories.delete(id)
    }
  }

  /** `close` waits for the work. */
  #track<Value>(work: Promise<Value>): Promise<Value> {
    this.#running.add(work)
    const end = () => void this.#running.delete(work)
    work.then(end, end)
    return work
  }

  #now(): number {
    return this.#clock.now().getTime()
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof FetchTooLarge || (error as Error).name === 'TimeoutError'
}

interface Cached {
  isUsed: boolean
  isOld: boolean
  bytes: number
}

/**
 * The histories to discard: those that are old or alone exceed the byte bound, then the least recently used until the rest is within the
 * bounds. A history in use is never among them.
 *
 * @param cached least recently used first
 */
export function surplusAmong<One extends Cached>(
  cached: readonly One[],
  bounds: Pick<HistoryBounds, 'repositories' | 'bytes'>,
): One[] {
  const useless = cached.filter(({ isUsed, isOld, bytes }) => !isUsed && (isOld || bytes > bounds.bytes))
  const useful = cached.filter(one => !useless.includes(one))
  let count = useful.length
  let bytes = useful.reduce((sum, one) => sum + one.bytes, 0)
  const surplus = useful.filter(one => {
    if (one.isUsed || (count <= bounds.repositories && bytes <= bounds.bytes)) return false
    count--
    bytes -= one.bytes
    return true
  })
  return [...useless, ...surplus]
}

/** A failure of an earlier question; compared by identity. */
interface Failure {
  error: unknown
}

/** Questions about one repository that may wait for each other. */
const WAITING_QUESTIONS = 31

/**
 * The history of one repository. Questions about it take turns.
 *
 * | state    | scratch                        | the next question                                       |
 * |----------|--------------------------------|---------------------------------------------------------|
 * | absent   | `null`                         | fetches the whole history                               |
 * | fetching | open, current for no tips      | waits; shares the failure if the fetch fails            |
 * | kept     | current for the last tips      | fetches new commits; needs no fetch when there are none |
 * | expired  | open, `isExpired`              | fetches the whole history again                         |
 * | failed   | `null`, with `lastFailure` set | as absent, unless it waited while the failure happened  |
 */
class RepositoryHistory {
  readonly #options: ScratchHistoryOptions
  readonly #track: (work: Promise<void>) => void
  readonly #turn: Limit = createLimit(1, WAITING_QUESTIONS)
  #users = 0
  #scratch: ScratchHistory | null = null
  #lastFailure: Failure | null = null

  /** @param track takes the removal of a scratch repository, which goes on in the background */
  constructor(options: ScratchHistoryOptions, track: (work: Promise<void>) => void) {
    this.#options = options
    this.#track = track
  }

  /** Whether a question is being answered or waits. */
  get isUsed(): boolean {
    return this.#users > 0
  }

  /** `null` unless something is kept. */
  get scratch(): Pick<ScratchHistory, 'bytes' | 'isExpired'> | null {
    return this.#scratch
  }

  /**
   * Runs one question at a time.
   *
   * @param question receives the failure recorded before this call was queued
   * @throws GateFull when too many questions wait
   */
  async ask<Value>(question: (failureBefore: Failure | null) => Promise<Value>): Promise<Value> {
    const failureBefore = this.#lastFailure
    this.#users++
    try {
      return await this.#turn(() => {
        this.#options.closing.throwIfAborted()
        return question(failureBefore)
      })
    } finally {
      this.#users--
    }
  }

  /** Throws the failure of a question that was answered while the caller waited: it shares that outcome. */
  throwIfFailedSince(failureBefore: Failure | null): void {
    if (this.#lastFailure !== null && this.#lastFailure !== failureBefore) throw this.#lastFailure.error
  }

  /** Whether a tip leads to the commit. Fetches what is missing. @throws as `ScratchHistory.fetchAdded` */
  async leadsTo(remote: Remote, tips: TipSet, commit: string): Promise<boolean> {
    try {
      return await (await this.#upToDate(remote, tips)).leadsTo(commit)
    } catch (error) {
      this.#lastFailure = { error }
      // A fetch that broke off leaves an unknown part of the history. A fetch that was never admitted leaves everything as it was.
      if (!(error instanceof GateFull)) this.discard()
      throw error
    }
  }

  /** Drops what is kept; its files are removed in the background. */
  discard(): void {
    const scratch = this.#scratch
    this.#scratch = null
    if (scratch !== null) this.#track(scratch.remove())
  }

  /** The scratch repository, with refs at these tips and at no others. */
  async #upToDate(remote: Remote, tips: TipSet): Promise<ScratchHistory> {
    const scratch = this.#scratch
    if (scratch?.isCurrent(tips)) return scratch
    if (scratch === null || scratch.isSpent) {
      this.discard()
      return this.#options.fetchLimit(() => this.#fetchAll(remote, tips))
    }
    await scratch.fetchAdded(remote, tips)
    return scratch
  }

  async #fetchAll(remote: Remote, tips: TipSet): Promise<ScratchHistory> {
    this.#options.closing.throwIfAborted()
    const scratch = await ScratchHistory.open(this.#options)
    this.#scratch = scratch
    await scratch.fetchAll(remote, tips)
    return scratch
  }
}
