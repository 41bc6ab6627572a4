import { LRUCache } from 'lru-cache'
import { memoryOfEntry } from '#core/memory.ts'
import type { Clock } from '#core/ports/system.ts'

/** The operator's token, and where GitHub refuses it. Questions to the API and to git share it. */
export interface Credential {
  readonly token: string | null
  /**
   * The end of the first question with the token; `null` before that question. All others wait for it: if GitHub does not know the token, it
   * is then sent only once.
   */
  firstAnswer(): Promise<void> | null
  /**
   * Whether the next question sends the token. `attempt`: the token was refused, its pause is over, and one question tries it.
   *
   * @param account in whose repositories the question is; `null`: in no account's
   */
  useFor(account: string | null): 'always' | 'attempt' | 'never'
  /** Call it right before a question with the token, and what it returns after the answer. After a pause, the others go without until then. */
  begin(): () => void
  /** An answer to a question with the token refused the token itself. */
  noteInvalid(): void
  /** An answer refused the token only for this account, for example by a rule of the organization. */
  noteKeptOut(account: string): void
  /** An answer shows that the host knows the token. */
  noteValid(): void
  /** What a job process needs to know. */
  handover(): CredentialHandover
  /** Learns what the process knows by now that started this one. */
  follow(parent: CredentialHandover): void
}

/** What one process knows of the token, for a process that it starts. */
export interface CredentialHandover {
  /** End of the token's pause, in milliseconds since 1970; `null`: it is not refused. */
  pausedUntil: number | null
  /** When an answer last showed that the host knows the token, in milliseconds since 1970; `null`: none did. */
  validAt: number | null
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

/**
 * @param parent what the process that started this one knows; `null`: none did. One process tries a refused token again, so one that was started
 *   by another leaves it aside for `LONGEST_PAUSE_SECONDS`
 */
export function createCredential(token: string | null, clock: Clock, parent: CredentialHandover | null = null): Credential {
  /** By login in lower case, in milliseconds since 1970. */
  const keptOutAt = new LRUCache<string, number>({ maxSize: KEPT_OUT_BYTES, sizeCalculation: memoryOfEntry })
  const firstPauseSeconds = parent === null ? FIRST_PAUSE_SECONDS : LONGEST_PAUSE_SECONDS
  /** 0: the last answer accepted the token. */
  let pauseSeconds = parent?.pausedUntil ? LONGEST_PAUSE_SECONDS : 0
  let first: Promise<void> | null = null
  const now = () => clock.now().getTime()
  let pausedUntil = parent?.pausedUntil ? now() + LONGEST_PAUSE_SECONDS * 1000 : Number.NEGATIVE_INFINITY
  let refusedAt = now()
  let validAt: number | null = null

  return {
    token,

    firstAnswer: () => first,

    useFor(account) {
      if (token === null) return 'never'
      const refusedAt = account === null ? undefined : keptOutAt.get(account.toLowerCase())
      if (refusedAt !== undefined && now() - refusedAt < KEPT_OUT_SECONDS * 1000) return 'never'
      if (pauseSeconds === 0) return 'always'
      return now() < pausedUntil ? 'never' : 'attempt'
    },

    begin() {
      if (pauseSeconds > 0) pausedUntil = now() + ATTEMPT_SECONDS * 1000
      if (first !== null) return () => {}
      const { promise, resolve } = Promise.withResolvers<void>()
      first = promise
      return resolve
    },

    noteInvalid() {
      // The answers to concurrent questions are one refusal.
      const isSameRefusal = pauseSeconds > 0 && now() < pausedUntil - ATTEMPT_SECONDS * 1000
      if (isSameRefusal) return
      refusedAt = now()
      pauseSeconds = Math.min(LONGEST_PAUSE_SECONDS, pauseSeconds === 0 ? firstPauseSeconds : pauseSeconds * 2)
      pausedUntil = now() + pauseSeconds * 1000
    },

    noteKeptOut(account) {
      keptOutAt.set(account.toLowerCase(), now())
    },

    noteValid() {
      pauseSeconds = 0
      validAt = now()
    },

    handover: () => ({ pausedUntil: pauseSeconds > 0 ? pausedUntil : null, validAt }),

    follow(told) {
      // The parent tries a refused token again, and its processes do as its answer says.
      if (told.pausedUntil === null && told.validAt !== null && told.validAt > refusedAt) pauseSeconds = 0
      if (told.pausedUntil === null || pauseSeconds > 0) return
      refusedAt = now()
      pauseSeconds = LONGEST_PAUSE_SECONDS
      pausedUntil = refusedAt + pauseSeconds * 1000
    },
  }
}
