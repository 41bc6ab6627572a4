import { LRUCache } from 'lru-cache'
import { memoryOfEntry } from '#core/memory.ts'
import type { Clock } from '#core/ports/system.ts'

/** The operator's token, and where GitHub refuses it. Questions to the API and to git share it. */
export interface Credential {
  readonly token: string | null
  /**
   * Whether to send the token with the next question. After a pause, one caller is told to try; until that answer the others go without.
   *
   * @param account in whose repositories the question is; `null`: in no account's
   */
  mayAsk(account: string | null): boolean
  /** An answer to a question with the token refused the token itself. */
  noteInvalid(): void
  /** An answer refused the token only for this account, for example by a rule of the organization. */
  noteKeptOut(account: string): void
  /** An answer shows that the host knows the token. */
  noteValid(): void
}

/** Pause after a refused token, which doubles with each refusal: repeated attempts look like an attack, and GitHub then refuses valid tokens, too. */
const FIRST_PAUSE_SECONDS = 60
const LONGEST_PAUSE_SECONDS = 3_600
/** The one attempt after a pause has an answer within this time, or the next one may try. */
const ATTEMPT_SECONDS = 10
/** An account that refused the token is asked with it again after this time. */
const KEPT_OUT_SECONDS = 600
/** Some thousand accounts. One that was evicted is asked with the token once more. */
const KEPT_OUT_BYTES = 1024 * 1024

export function createCredential(token: string | null, clock: Clock): Credential {
  /** By login in lower case, in milliseconds since 1970. */
  const keptOutAt = new LRUCache<string, number>({ maxSize: KEPT_OUT_BYTES, sizeCalculation: memoryOfEntry })
  let pausedUntil = Number.NEGATIVE_INFINITY
  /** 0: the last answer accepted the token. */
  let pauseSeconds = 0
  const now = () => clock.now().getTime()

  return {
    token,

    mayAsk(account) {
      if (token === null) return false
      const refusedAt = account === null ? undefined : keptOutAt.get(account.toLowerCase())
      if (refusedAt !== undefined && now() - refusedAt < KEPT_OUT_SECONDS * 1000) return false
      if (pauseSeconds === 0) return true
      if (now() < pausedUntil) return false
      pausedUntil = now() + ATTEMPT_SECONDS * 1000
      return true
    },

    noteInvalid() {
      // The answers to concurrent questions are one refusal.
      const isSameRefusal = pauseSeconds > 0 && now() < pausedUntil - ATTEMPT_SECONDS * 1000
      if (isSameRefusal) return
      pauseSeconds = Math.min(LONGEST_PAUSE_SECONDS, pauseSeconds === 0 ? FIRST_PAUSE_SECONDS : pauseSeconds * 2)
      pausedUntil = now() + pauseSeconds * 1000
    },

    noteKeptOut(account) {
      keptOutAt.set(account.toLowerCase(), now())
    },

    noteValid() {
      pauseSeconds = 0
    },
  }
}
