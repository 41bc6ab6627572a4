import type { Clock } from '#core/ports/system.ts'
import type { Remote } from '../git/upload-pack.ts'
import { type HostFailure, Paused, readGitFailure } from './answers.ts'
import { Pause } from './pause.ts'

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
