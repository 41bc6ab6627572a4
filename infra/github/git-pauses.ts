import type { Clock } from '#core/ports/system.ts'
import type { Remote } from '../git/upload-pack.ts'
import { type HostFailure, Paused, readGitFailure } from './answers.ts'

/** The pauses that the host asks of git. Decision 0029. */
export interface GitPauses {
  /** The pauses of one credential, or of the questions without one: a rate limit is its own, an outage that of the host. */
  ofCredential(): CredentialPauses
}

export interface CredentialPauses {
  /** Why git may not be asked now; `null` when it may. */
  refusal(): HostFailure | null
  /**
   * Asks, unless a pause forbids it. Notes what the outcome tells of the host.
   *
   * @returns `isSent`: whether a request was sent. An answer from memory says nothing about the host
   * @throws Paused, or what `ask` throws
   */
  ask<Value>(remote: Remote, ask: (remote: Remote) => Promise<Value>): Promise<{ value: Value; isSent: boolean }>
}

export function createGitPauses(clock: Clock): GitPauses {
  const outage = new Pause(clock)
  return {
    ofCredential() {
      const limit = new Pause(clock)
      const refusal = () => outage.refusal() ?? limit.refusal()

      function note(error: unknown): void {
        const failure = readGitFailure(error, false)
        if (failure.status === 'rate_limited') limit.begin(failure)
        // Without seconds to wait, it may be about this repository alone.
        if (failure.status === 'unavailable' && failure.retryAfterSeconds) outage.begin(failure)
      }

      return {
        refusal,
        async ask({ url, authorization }, ask) {
          const failure = refusal()
          if (failure !== null) throw new Paused(failure)
          let isSent = false
          const asked: Remote = {
            url,
            get authorization() {
              isSent = true
              return authorization
            },
          }
          try {
            const value = await ask(asked)
            if (isSent) limit.noteAnswered()
            return { value, isSent }
          } catch (error) {
            note(error)
            throw error
          }
        },
      }
    },
  }
}

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
