import { GateFull } from '#core/concurrency/fair-gate.ts'
import { createLimit, type Limit } from '#core/concurrency/limit.ts'
import type { TipSet } from './history.ts'
import { ScratchHistory, type ScratchHistoryOptions } from './scratch-history.ts'
import type { Remote } from './upload-pack.ts'

/** A failure of an earlier question; compared by identity. */
export interface Failure {
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
export class RepositoryHistory {
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
