import { LRUCache } from 'lru-cache'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { memoryOf, memoryOfText } from '#core/memory.ts'
import type { Clock } from '#core/ports/system.ts'
import type { HostFailure } from './answers.ts'
import type { SharedLookup, SharedNamespace, TimedAnswer } from './shared-cache.ts'

/** A cached answer: a value, or that there is none. */
export type CachedAnswer<Value> = { status: 'ok'; value: Value } | { status: 'missing' }

export interface CacheOptions<Value> {
  /** Estimated memory of all values with their keys. The least recently used is evicted first; a larger value is not cached. Default: 16 MiB. */
  maxBytes?: number
  /** Time after which a caller gets `unavailable`; the answer is cached when it comes. */
  patienceMs: number
  /** Time for which the answer that there is no value is returned. Default: 30 s. */
  missingSeconds?: number
  clock: Clock
  /** The answers of all processes of the deployment. Default: this process shares none. */
  shared?: SharedNamespace<Value> | null
  /** Called when another process' answer is cached. @param askedAt when the question was asked, in milliseconds since 1970 */
  onShared?: (key: string, askedAt: number) => void
}

export interface CacheTimes {
  /** Age up to which a value is returned without a question to the host. */
  freshSeconds: number
  /** Age up to which a value is returned while the host cannot be asked. */
  staleSeconds: number
  /** Replaces that of the cache, for a caller that has waited already. */
  patienceMs?: number
}

interface Entry<Value> {
  answer: CachedAnswer<Value>
  /** When the question was asked, in milliseconds since 1970. */
  askedAt: number
  /** When the host last could not be asked again. */
  failedAt: number
  /** The host announced a change: the next caller asks. */
  expired: boolean
  /** Age, as a part of the time for which the answer is fresh, from which it is asked for again in the background. */
  refreshShare: number
}

interface Question {
  /** In milliseconds since 1970. */
  askedAt: number
  /** The host announced a change after the question: its answer is not cached. */
  isOvertaken: boolean
}

interface Flight<Value> {
  question: Question
  /** The age that the answer of another process may have. */
  freshSeconds: number
  answer: Promise<CachedAnswer<Value> | HostFailure>
}

/** @param answer `null` while the first answer is awaited */
export type KeyTest<Value> = (key: string, answer: CachedAnswer<Value> | null) => boolean

const MISSING_SECONDS = 30
const MAX_BYTES = 16 * 1024 * 1024
/** Estimated memory of all keys without a value. */
const MISSING_BYTES = 4 * 1024 * 1024
/** Estimated memory of one, besides that of its key. */
const ENTRY_BYTES = 300
/** After a failure, a stale value is returned for this time without another question. */
const FAILED_SECONDS = 5
/**
 * The process that asked asks again a little before the answer expires, and the others at different times after that. Otherwise all would
 * ask at the instant at which the answer that they share expires.
 */
const REFRESH_SHARE = 0.9
const SHARED_REFRESH_SHARE = 0.95

type Ask<Value> = (known: Value | null) => Promise<CachedAnswer<Value> | HostFailure>

/** Caches answers of a host by key. Concurrent callers of a key share one question. */
export class AnswerCache<Value> {
  readonly #clock: Clock
  readonly #patienceMs: number
  readonly #missingSeconds: number
  /** Separate from `#missing`: names of nothing are endless, and must not evict values. */
  readonly #found: LRUCache<string, Entry<Value>>
  readonly #missing: LRUCache<string, Entry<Value>>
  readonly #flights = new Map<string, Flight<Value>>()
  readonly #shared: SharedNamespace<Value> | null
  readonly #onShared: (key: string, askedAt: number) => void

  constructor({ maxBytes = MAX_BYTES, patienceMs, clock, shared = null, onShared = () => {}, ...options }: CacheOptions<Value>) {
    const sizeCalculation = ({ answer }: Entry<Value>, key: string) => ENTRY_BYTES + memoryOfText(key) + memoryOf(answer)
    this.#found = new LRUCache({ maxSize: maxBytes, sizeCalculation })
    this.#missing = new LRUCache({ maxSize: Math.min(maxBytes, MISSING_BYTES), sizeCalculation })
    this.#patienceMs = patienceMs
    this.#missingSeconds = options.missingSeconds ?? MISSING_SECONDS
    this.#clock = clock
    this.#shared = shared
    this.#onShared = onShared
  }

  /** @param ask receives the cached value, for a conditional question */
  async get(key: string, times: CacheTimes, ask: Ask<Value>): Promise<CachedAnswer<Value> | HostFailure> {
    const now = this.#clock.now().getTime()
    const entry = this.#found.get(key) ?? this.#missing.get(key)
    if (entry) {
      if (this.#isFresh(entry, now, times.freshSeconds)) {
        if (this.#shared !== null && isDue(entry, now, times.freshSeconds)) this.#refresh(key, now, times, ask)
        return entry.answer
      }
      if (isUsable(entry, now, times.staleSeconds) && isWithin(now - entry.failedAt, FAILED_SECONDS)) return entry.answer
    }
    return this.#wait(key, now, times, ask)
  }

  /** The answer of the running question, or of a new one. */
  async #wait(
    key: string,
    now: number,
    { freshSeconds, staleSeconds, patienceMs = this.#patienceMs }: CacheTimes,
    ask: Ask<Value>,
  ): Promise<CachedAnswer<Value> | HostFailure> {
    const running = this.#flights.get(key)
    const isJoined =
      running &&
      isWithin(now - running.question.askedAt, freshSeconds) &&
      (this.#shared === null || running.freshSeconds <= freshSeconds)
    const flight = isJoined ? running : this.#start(key, now, freshSeconds, ask)
    const answer = await withTimeout(
      flight.answer,
      patienceMs,
      (): HostFailure => ({ status: 'unavailable', retryAfterSeconds: 1 }),
    )
    if (answer.status === 'ok' || answer.status === 'missing') return answer
    const known = this.#entry(key)
    return known && isUsable(known, this.#clock.now().getTime(), staleSeconds) ? known.answer : answer
  }

  /** Estimated memory of all entries. */
  get sizeBytes(): number {
    return this.#found.calculatedSize + this.#missing.calculatedSize
  }

  /** The cached answer of any age. */
  known(key: string): CachedAnswer<Value> | null {
    return this.#entry(key)?.answer ?? null
  }

  /** All cached values, of any age. */
  values(): Value[] {
    return [...this.#found.values()].flatMap(({ answer }) => (answer.status === 'ok' ? [answer.value] : []))
  }

  drop(key: string): void {
    this.#found.delete(key)
    this.#missing.delete(key)
    this.#overtake(key)
  }

  dropWhere(test: KeyTest<Value>): void {
    for (const key of this.#keysWhere(test)) this.drop(key)
  }

  /** Makes the next caller ask. The cached value is returned only while the host cannot be asked. */
  expireWhere(test: KeyTest<Value>): void {
    for (const key of this.#keysWhere(test)) {
      const entry = this.#entry(key)
      if (entry) entry.expired = true
      this.#overtake(key)
    }
  }

  #isFresh({ answer, askedAt, expired }: Entry<Value>, now: number, freshSeconds: number): boolean {
    return !expired && isWithin(now - askedAt, answer.status === 'ok' ? freshSeconds : this.#missingSeconds)
  }

  #entry(key: string): Entry<Value> | undefined {
    return this.#found.peek(key) ?? this.#missing.peek(key)
  }

  #keep(key: string, entry: Entry<Value>): void {
    const [here, there] = entry.answer.status === 'ok' ? [this.#found, this.#missing] : [this.#missing, this.#found]
    there.delete(key)
    here.set(key, entry)
  }

  /** Keys with a cached answer or a running question that pass the test. */
  #keysWhere(test: KeyTest<Value>): string[] {
    const keys = new Set([...this.#found.keys(), ...this.#missing.keys(), ...this.#flights.keys()])
    return [...keys].filter(key => test(key, this.known(key)))
  }

  /** Detaches a running question: only its waiting callers get its answer. */
  #overtake(key: string): void {
    const flight = this.#flights.get(key)
    if (!flight) return
    flight.question.isOvertaken = true
    this.#flights.delete(key)
  }

  /** Asks in the background. */
  #refresh(key: string, now: number, { freshSeconds }: CacheTimes, ask: Ask<Value>): void {
    if (this.#flights.has(key)) return
    void this.#start(key, now, freshSeconds, ask).answer.catch(() => {}) // a caller that finds the answer expired gets the error
  }

  #start(key: string, askedAt: number, freshSeconds: number, ask: Ask<Value>): Flight<Value> {
    const question = { askedAt, isOvertaken: false }
    const flight: Flight<Value> = {
      question,
      freshSeconds,
      answer: this.#answer(key, question, freshSeconds, ask).finally(() => {
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
      }),
    }
    this.#flights.set(key, flight)
    return flight
  }

  /** The answer of another process if it is fresh, else the host's. */
  async #answer(
    key: string,
    question: Question,
    freshSeconds: number,
    ask: Ask<Value>,
  ): Promise<CachedAnswer<Value> | HostFailure> {
    if (this.#shared === null) return await this.#ask(key, question, ask, null)
    const lookup = await this.#shared.get(key)
    const found = question.isOvertaken ? null : this.#adopt(key, lookup?.found ?? null)
    if (found && this.#isFresh(found, this.#clock.now().getTime(), freshSeconds)) return found.answer
    return await this.#ask(key, question, ask, lookup)
  }

  /** Caches another process' answer if it is newer, or the own one is outdated: the other's is not, whatever the clocks say. */
  #adopt(key: string, found: TimedAnswer<Value> | null): Entry<Value> | null {
    const before = this.#entry(key)
    if (found === null || (before && !before.expired && before.askedAt >= found.askedAt)) return null
    const refreshShare = SHARED_REFRESH_SHARE + (1 - SHARED_REFRESH_SHARE) * Math.random()
    const entry: Entry<Value> = { ...found, failedAt: Number.NEGATIVE_INFINITY, expired: false, refreshShare }
    this.#keep(key, entry)
    if (found.answer.status === 'ok') this.#onShared(key, found.askedAt)
    return entry
  }

  async #ask(
    key: string,
    question: Question,
    ask: Ask<Value>,
    lookup: SharedLookup<Value> | null,
  ): Promise<CachedAnswer<Value> | HostFailure> {
    const known = this.known(key)
    const answer = await ask(known?.status === 'ok' ? known.value : null)
    const { askedAt } = question
    if (question.isOvertaken) return answer
    const before = this.#entry(key)
    if (answer.status === 'ok' || answer.status === 'missing') {
      // An answer to a later question may have come first.
      if (!before || before.askedAt <= askedAt) {
        const refreshShare = REFRESH_SHARE
        this.#keep(key, { answer, askedAt, failedAt: Number.NEGATIVE_INFINITY, expired: false, refreshShare })
        lookup?.publish({ answer, askedAt })
      }
    } else if (before) {
      before.failedAt = this.#clock.now().getTime()
    }
    return answer
  }
}

/** Whether a fresh value should be asked for again. */
function isDue({ answer, askedAt, failedAt, refreshShare }: Entry<unknown>, now: number, freshSeconds: number): boolean {
  const isOld = now - askedAt >= freshSeconds * 1000 * refreshShare
  return answer.status === 'ok' && isOld && !isWithin(now - failedAt, FAILED_SECONDS)
}

function isUsable({ answer, askedAt }: Entry<unknown>, now: number, staleSeconds: number): boolean {
  return answer.status === 'ok' && isWithin(now - askedAt, staleSeconds)
}

function isWithin(milliseconds: number, seconds: number): boolean {
  return milliseconds >= 0 && milliseconds < seconds * 1000
}
