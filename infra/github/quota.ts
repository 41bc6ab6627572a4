import type { HostQuota } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'

/**
 * What a question is about:
 * - `known`: the host answered it before
 * - `shown`: something that exists
 * - `name`, `hash`, `account`: a repository, commit or account that may not exist
 * - `ref`, `page`, `history`: a branch or tag other than the default branch; a page of the repositories of an account; the commits of a path.
 *   Visitors choose how many there are, so they count when they are known, too
 */
export type Subject = 'known' | 'shown' | 'name' | 'hash' | 'account' | 'ref' | 'page' | 'history'

/** Tracks how many questions the API still answers. */
export interface Quota {
  /** @param headers of an answer */
  note(headers: Readonly<Record<string, string | number | undefined>>): void
  /** Notes that a question is asked. Returns a function for its end. */
  spend(subject: Subject): (isFree: boolean) => void
  /** Seconds until a question may be asked; `null`: now. */
  waitSeconds(subject: Subject): number | null
  /** `null` before the first answer, and once the hour is over. */
  left(): HostQuota | null
}

/** Share of an hour's questions that is reserved for what is known. With a credential, "not modified" is free of charge while any question is left. */
const RESERVED_SHARE = 0.2
/** Visitors decide how many names, hashes, accounts, refs, pages and histories are asked for. This is the share of an hour's questions for each of these kinds. */
const ENDLESS_SHARE = 0.2
/** The share for all these kinds together. The rest is left for repositories that are opened for the first time. */
const ALL_ENDLESS_SHARE = 0.4
/** The limit until the host names one: that of anonymous questions. */
const LEAST_LIMIT = 60
/** A longer window is an error or a wrong clock. */
const LONGEST_SECONDS = 3_600

/** An hour of the host. */
interface Hour {
  limit: number
  /** What the answers so far tell; `null` before the first. */
  told: { remaining: number; resetsAtSeconds: number } | null
  /** Questions about endless subjects. */
  spent: Map<Subject, number>
}

export function createQuota(clock: Clock): Quota {
  return new HourlyQuota(clock)
}

class HourlyQuota implements Quota {
  readonly #clock: Clock
  #hour: Hour = { limit: LEAST_LIMIT, told: null, spent: new Map() }
  #running = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(headers: Readonly<Record<string, string | number | undefined>>): void {
    const [limit, remaining, resetsAtSeconds] = ['limit', 'remaining', 'reset'].map(name =>
      numberOf(headers[`x-ratelimit-${name}`]),
    )
    if (limit === undefined || remaining === undefined || resetsAtSeconds === undefined) return
    if ((headers['x-ratelimit-resource'] ?? 'core') !== 'core') return
    const lastsSeconds = resetsAtSeconds - this.#nowSeconds()
    if (lastsSeconds <= 0 || lastsSeconds > 2 * LONGEST_SECONDS) return
    const hour = this.#currentHour()
    const { told } = hour
    // Answers may arrive out of order. Within an hour, the smallest number is the latest.
    if (
      told &&
      (resetsAtSeconds < told.resetsAtSeconds || (resetsAtSeconds === told.resetsAtSeconds && remaining > told.remaining))
    )
      return
    // Questions that were asked before the first answer of an hour are part of it.
    const spent = told === null || told.resetsAtSeconds === resetsAtSeconds ? hour.spent : new Map<Subject, number>()
    this.#hour = { limit, told: { remaining, resetsAtSeconds }, spent }
  }

  spend(subject: Subject): (isFree: boolean) => void {
    const { spent } = this.#currentHour()
    const add = (number: number) => spent.set(subject, (spent.get(subject) ?? 0) + number)
    this.#running++
    if (isEndless(subject)) add(1)
    return isFree => {
      this.#running--
      // A host that tells nothing has no limit.
      const isCounted = !isFree && this.#hour.told !== null
      if (isEndless(subject) && !isCounted) add(-1)
    }
  }

  waitSeconds(subject: Subject): number | null {
    if (subject === 'known') return null
    const { limit, told, spent } = this.#currentHour()
    const remaining = (told?.remaining ?? limit) - this.#running
    if (remaining > limit * RESERVED_SHARE && !(isEndless(subject) && isOverShare(spent, subject, limit))) return null
    if (told === null) return 1
    return Math.min(LONGEST_SECONDS, Math.max(1, Math.ceil(told.resetsAtSeconds - this.#nowSeconds())))
  }

  left(): HostQuota | null {
    const { limit, told } = this.#currentHour()
    return told && { limit, remaining: told.remaining, resetsAt: new Date(told.resetsAtSeconds * 1000) }
  }

  /** The limit of the last hour counts until the next one is told. */
  #currentHour(): Hour {
    const { limit, told } = this.#hour
    if (told !== null && told.resetsAtSeconds <= this.#nowSeconds()) this.#hour = { limit, told: null, spent: new Map() }
    return this.#hour
  }

  #nowSeconds(): number {
    return this.#clock.now().getTime() / 1000
  }
}

function isEndless(subject: Subject): boolean {
  return subject !== 'known' && subject !== 'shown'
}

function isOverShare(spent: ReadonlyMap<Subject, number>, subject: Subject, limit: number): boolean {
  const all = [...spent.values()].reduce((sum, number) => sum + number, 0)
  return (spent.get(subject) ?? 0) >= limit * ENDLESS_SHARE || all >= limit * ALL_ENDLESS_SHARE
}

function numberOf(value: string | number | undefined): number | undefined {
  return value !== undefined && /^\d{1,10}$/.test(String(value)) ? Number(value) : undefined
}
