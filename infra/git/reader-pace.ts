/** What a client took counts for this time: the pace is an average in which older bytes count exponentially less. */
const PACE_MS = 10_000

/**
 * How fast a client takes a file. Only the time counts for which the service waits for the client: a client does not become slow because git is.
 * A client that took much at first and then stands still becomes slow.
 */
export class ReaderPace {
  readonly #now: () => number
  /** Since when the client has bytes to take; `null` while it waits for the service. */
  #waitingSince: number | null = null
  #waitedMs = 0
  #recentBytes = 0

  /** @param now a monotonic time in milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The client has bytes to take. */
  offered(): void {
    this.#waitingSince = this.#now()
  }

  /** The client took what was offered, and asks for more. */
  took(bytes: number): void {
    const waitMs = this.#waitMs()
    this.#recentBytes = this.#recentBytes * Math.exp(-waitMs / PACE_MS) + bytes
    this.#waitedMs += waitMs
    this.#waitingSince = null
  }

  /** `null` while the service has waited for the client for less than `PACE_MS`. */
  bytesPerSecond(): number | null {
    const waitMs = this.#waitMs()
    if (this.#waitedMs + waitMs < PACE_MS) return null
    return (this.#recentBytes * Math.exp(-waitMs / PACE_MS) * 1000) / PACE_MS
  }

  #waitMs(): number {
    return this.#waitingSince === null ? 0 : this.#now() - this.#waitingSince
  }
}
