import type { HostQuota } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'

/** How many questions the API still answers, as its answers tell. */
export interface Quota {
  /** @param headers of an answer */
  note(headers: Readonly<Record<string, string | number | undefined>>): void
  /** Seconds until what is new may be asked about; `null`: now. */
  waitSeconds(): number | null
  /** `null`: nothing is known, or the hour is over. */
  left(): HostQuota | null
}

/**
 * So much of an hour's questions is kept for what the host has shown before. Names that nobody has asked for cost as much as others, and there
 * is no end of them; what is being read must go on being looked after. While any question is left, one whose answer is that nothing
 * changed is free of charge to whoever has a credential.
 */
const KEPT_SHARE = 0.2
/** No hour is longer. What says so is a mistake or another clock. */
const LONGEST_SECONDS = 3_600

export function createQuota(clock: Clock): Quota {
  let last: { limit: number; remaining: number; resetsAtSeconds: number } | null = null

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
      // Answers overtake each other; of one hour the least is the latest.
      if (
        known &&
        (resetsAtSeconds < known.resetsAtSeconds || (resetsAtSeconds === known.resetsAtSeconds && remaining > known.remaining))
      )
        return
      last = { limit, remaining, resetsAtSeconds }
    },

    waitSeconds() {
      const known = left()
      if (known === null || known.remaining > known.limit * KEPT_SHARE) return null
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
