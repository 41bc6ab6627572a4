import type { Clock } from '#core/ports/system.ts'
import type { HostFailure } from './answers.ts'

/** GitHub documents this wait for a limit without `retry-after`, growing with each limit after it. */
const FIRST_SECONDS = 60
const LONGEST_SECONDS = 3_600

/** How long a host that limits requests is left alone: a question during a limit prolongs it. */
export class Pause {
  readonly #clock: Clock
  /** In milliseconds since 1970. */
  #until = Number.NEGATIVE_INFINITY
  #status: HostFailure['status'] = 'unavailable'
  /** Whether the last pause has a length of our own, since the host named none. */
  #isOwn = false
  /** Length of the last such pause, which the next one doubles. 0 after an answer that was no limit. */
  #ownSeconds = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Why nothing may be asked now; `null` when it may. */
  refusal(): HostFailure | null {
    const waitMs = this.#until - this.#clock.now().getTime()
    return waitMs > 0 ? { status: this.#status, retryAfterSeconds: Math.ceil(waitMs / 1000) } : null
  }

  /** Begins a pause, or prolongs it. Returns the trouble with its seconds. A wait of 0 seconds counts as none named. */
  begin({ status, retryAfterSeconds }: HostFailure): HostFailure {
    const running = this.refusal()
    // The answers to concurrent questions are one limit, whose longest wait counts.
    const ownSeconds = running !== null && this.#isOwn ? 0 : this.#nextSeconds()
    const seconds = retryAfterSeconds || ownSeconds
    if (running !== null && seconds <= (running.retryAfterSeconds ?? 0)) return { ...running, status }
    this.#isOwn = !retryAfterSeconds
    if (this.#isOwn) this.#ownSeconds = seconds
    this.#until = this.#clock.now().getTime() + seconds * 1000
    this.#status = status
    return { status, retryAfterSeconds: seconds }
  }

  /** Notes that the host answered, with neither a limit nor an error of its own. */
  noteAnswered(): void {
    this.#ownSeconds = 0
  }

  #nextSeconds(): number {
    return Math.min(LONGEST_SECONDS, this.#ownSeconds === 0 ? FIRST_SECONDS : this.#ownSeconds * 2)
  }
}
