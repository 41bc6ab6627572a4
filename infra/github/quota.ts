import type { HostQuota } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'

/**
 * What a question is about:
 * - `known`: the host answered it before
 * - `shown`: something that exists
 * - `name`, `hash`, `account`: a repository, commit or account that may not exist. Such are endless
 */
export type Subject = 'known' | 'shown' | 'name' | 'hash' | 'account'

/** Tracks how many questions the API still answers. */
export interface Quota {
  /** @param headers of an answer */
  note(headers: Readonly<Record<string, string | number | undefined>>): void
  /** Notes that a question is asked. */
  spend(subject: Subject): void
  /** Seconds until a question may be asked; `null`: now. */
  waitSeconds(subject: Subject): number | null
  /** `null` before the first answer, and once the hour is over. */
  left(): HostQuota | null
}

/** Share of an hour's questions that is reserved for what is known. With a credential, "not modified" is free of charge while any question is left. */
const RESERVED_SHARE = 0.2
/** Share of an hour's questions that each of the endless subjects may use. */
const ENDLESS_SHARE = 0.2
/** A longer window is an error or a wrong clock. */
const LONGEST_SECONDS = 3_600

export function createQuota(clock: Clock): Quota {
  let last: { limit: number; remaining: number; resetsAtSeconds: number } | null = null
  /** Questions of this hour. */
  const spent = new Map<Subject, number>()

  const left = () => (last !== null && last.resetsAtSeconds * 1000 > clock.now().getTime() ? last : null)

  return {
    note(headers) {
      const [limit, remaining, resetsAtSeconds] = ['limit', 'remaining', 'reset'].map(name =>
        numberOf(headers[`x-ratelimit-${name}`]),
      )
      if (limit === undefined || remaining === undefined || resetsAtSeconds === undefined) return
      if ((headers['x-ratelimit-resource'] ?? 'core') !== 'core') return
      if (resetsAtSeconds - clock.now().getTime() / 1000 > 2 * LONGEST_SECONDS) return
      const known = left()
      // Answers may arrive out of order. Within an hour, the smallest number is the latest.
      if (
        known &&
        (resetsAtSeconds < known.resetsAtSeconds || (resetsAtSeconds === known.resetsAtSeconds && remaining > known.remaining))
      )
        return
      if (last !== null && resetsAtSeconds > last.resetsAtSeconds) spent.clear()
      last = { limit, remaining, resetsAtSeconds }
    },

    spend(subject) {
      spent.set(subject, (spent.get(subject) ?? 0) + 1)
    },

    waitSeconds(subject) {
      const known = left()
      if (known === null || subject === 'known') return null
      const isOverShare = subject !== 'shown' && (spent.get(subject) ?? 0) >= known.limit * ENDLESS_SHARE
      if (known.remaining > known.limit * RESERVED_SHARE && !isOverShare) return null
      return Math.min(LONGEST_SECONDS, Math.max(1, Math.ceil(known.resetsAtSeconds - clock.now().getTime() / 1000)))
    },

    left() {
      const known = left()
      return known && { limit: known.limit, remaining: known.remaining, resetsAt: new Date(known.resetsAtSeconds * 1000) }
    },
  }
}

function numberOf(value: string | number | undefined): number | undefined {
  return value !== undefined && /^\d{1,10}$/.test(String(value)) ? Number(value) : undefined
}
