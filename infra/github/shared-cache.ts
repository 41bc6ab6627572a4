import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import { withTimeout } from '#core/concurrency/timeout.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { sharedAnswersKey } from '#core/snapshot/store-keys.ts'
import type { InvalidationLog } from './invalidation-log.ts'

export interface SharedCacheOptions {
  states: StateStore
  /** Segment of the host. */
  host: string
  /**
   * What all sharing processes have in common: the address of the API and the token. Keys are digests under it, so that they do not betray
   * which names visitors asked for, and that processes with other tokens share nothing.
   */
  scope: string
  changes: InvalidationLog
  clock: Clock
  fallbacks?: Fallbacks
  /** How long a visitor waits for the store before the host is asked. */
  patienceMs: number
}

/** An answer with the time of its question, in milliseconds since 1970. */
export interface TimedAnswer<Value> {
  answer: { status: 'ok'; value: Value } | { status: 'missing' }
  askedAt: number
}

/** What one lookup in the store found. */
export interface SharedLookup<Value> {
  /** The answer of any process; `null` when there is none, or it is outdated. */
  found: TimedAnswer<Value> | null
  /** Shares the answer to a question that was asked after this lookup. Returns at once, and never throws. */
  publish(answer: TimedAnswer<Value>): void
}

/** The shared answers of one kind of question. */
export interface SharedNamespace<Value> {
  /** `null` when the store cannot be asked now. Never throws. */
  get(key: string): Promise<SharedLookup<Value> | null>
}

export interface NamespaceOptions<Value> {
  /** Separates the keys of the namespaces. */
  name: string
  schema: z.ZodType<Value>
  /** Subjects whose changes outdate the answer. See `InvalidationLog`. @param value `null`: there is none */
  subjectsOf(key: string, value: Value | null): string[]
}

/** What the processes of a deployment ask the host, they share through the state store. */
export interface SharedCache {
  namespace<Value>(options: NamespaceOptions<Value>): SharedNamespace<Value>
  /** Waits for the answers that are being written. */
  close(): Promise<void>
}

/** After a failure of the store, or a late answer, it is not asked for this time. */
const PAUSE_SECONDS = 5
/** Concurrent requests to the store. Further questions go to the host without it. */
const READS_AT_ONCE = 64
const WRITES_AT_ONCE = 64
/** Visitors make up names of nothing, so only so many of them are written. */
const MISSING_EACH_SECOND = 5

export function openSharedCache(options: SharedCacheOptions): SharedCache {
  return new StateSharedCache(options)
}

class StateSharedCache implements SharedCache {
  readonly #options: SharedCacheOptions
  readonly #buckets: CacheBuckets
  readonly #fallbacks: Fallbacks
  readonly #secret: Buffer
  readonly #writing = new Set<Promise<void>>()
  #reading = 0
  #pausedUntil = Number.NEGATIVE_INFINITY
  /** Of the current second: written answers of names of nothing. */
  #missing = { second: 0, count: 0 }

  constructor(options: SharedCacheOptions) {
    this.#options = options
    this.#buckets = openCacheBuckets(options.states, options.host)
    this.#fallbacks = options.fallbacks ?? NO_FALLBACKS
    this.#secret = createHash('sha256').update(options.scope).digest()
  }

  namespace<Value>(namespace: NamespaceOptions<Value>): SharedNamespace<Value> {
    return {
      get: async key => {
        const since = this.#options.changes.last
        const bucket = await this.#read(this.#idOf(namespace.name, key))
        if (bucket === null) return null
        return {
          found: this.#found(namespace, key, bucket.answer),
          publish: ({ answer, askedAt }) => {
            const value = answer.status === 'ok' ? (answer.value as JsonValue) : null
            this.#write(bucket, { askedAt, since, value })
          },
        }
      },
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#writing)
  }

  /** `null` when the store does not answer in time. */
  async #read(id: string): Promise<ReadBucket | null> {
    if (this.#reading >= READS_AT_ONCE || this.#now() < this.#pausedUntil) return null
    this.#reading++
    const reading = this.#buckets
      .read(id)
      .catch(error => this.#pause(error))
      .finally(() => this.#reading--)
    return await withTimeout(reading, this.#options.patienceMs, () => this.#pause(new Error('the store answers too late')))
  }

  #found<Value>(
    { schema, subjectsOf }: NamespaceOptions<Value>,
    key: string,
    stored: StoredAnswer | null,
  ): TimedAnswer<Value> | null {
    // The clock of another process may be ahead.
    if (stored === null || stored.askedAt > this.#now()) return null
    const { askedAt, since } = stored
    const value = stored.value === null ? null : schema.safeParse(stored.value).data
    if (value === undefined || this.#options.changes.isOutdated(since, subjectsOf(key, value))) return null
    return { answer: value === null ? { status: 'missing' } : { status: 'ok', value }, askedAt }
  }

  #write(bucket: ReadBucket, answer: StoredAnswer): void {
    if (this.#writing.size >= WRITES_AT_ONCE || this.#now() < this.#pausedUntil) return
    if (answer.value === null && !this.#mayWriteMissing()) return
    const writing: Promise<void> = bucket
      .write(answer)
      .catch(error => void this.#pause(error))
      .finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
  }

  #mayWriteMissing(): boolean {
    const second = Math.floor(this.#now() / 1000)
    if (this.#missing.second !== second) this.#missing = { second, count: 0 }
    return ++this.#missing.count <= MISSING_EACH_SECOND
  }

  #pause(error: unknown): null {
    this.#pausedUntil = this.#now() + PAUSE_SECONDS * 1000
    this.#fallbacks.note('shared_answers', error)
    return null
  }

  #idOf(namespace: string, key: string): string {
    return createHmac('sha256', this.#secret).update(`${namespace} ${key}`).digest('hex').slice(0, 40)
  }

  #now(): number {
    return this.#options.clock.now().getTime()
  }
}

/** An answer of the host that processes share. */
interface StoredAnswer {
  /** When the question was asked, in milliseconds since 1970. */
  askedAt: number
  /** Number of the last change that the asker knew. See `InvalidationLog`. */
  since: number
  /** `null`: there is none. */
  value: JsonValue
}

interface CacheBuckets {
  /** @param id hex digest of the question */
  read(id: string): Promise<ReadBucket>
}

interface ReadBucket {
  /** `null` when no answer is stored, or the entry is damaged. */
  answer: StoredAnswer | null
  /** Stores a newer answer. Does nothing when a newer one is there, or the entry is being written by others again and again. */
  write(answer: StoredAnswer): Promise<void>
}

/**
 * Digits of a question's digest that choose the entry of its answer. The number of entries is fixed, and so is the number of answers in
 * each: what visitors ask for cannot fill the store, and nothing needs to be removed.
 */
const BUCKET_DIGITS = 4
/** Answers of each kind in one entry. Separate bounds: names of nothing are endless, and must not evict values. */
const KEPT_VALUES = 4
const KEPT_MISSING = 4
/** A larger value is not shared. */
const VALUE_BYTES = 4 * 1024
/** After this time no process uses the answer. */
const KEPT_SECONDS = 600
const TRIES = 2

const Entry = z.object({
  answers: z
    .array(z.object({ id: z.string(), askedAt: z.int(), since: z.int().min(0), value: z.json() }))
    .max(2 * (KEPT_VALUES + KEPT_MISSING)),
})
type StoredRow = z.infer<typeof Entry>['answers'][number]

/** Answers in small entries of the state store. @param host segment of the host */
export function openCacheBuckets(states: StateStore, host: string): CacheBuckets {
  return {
    async read(id) {
      const key = sharedAnswersKey(host, id.slice(0, BUCKET_DIGITS))
      let stored = await states.read(key)
      const found = rowsOf(stored?.value).find(row => row.id === id)
      return {
        answer: found ?? null,
        async write(answer) {
          if (Buffer.byteLength(JSON.stringify(answer.value)) > VALUE_BYTES) return
          for (let turn = 0; turn < TRIES; turn++) {
            const rows = added(rowsOf(stored?.value), { id, ...answer })
            if (rows === null) return
            const value: JsonValue = { answers: rows.map(row => ({ ...row })) }
            const written = stored === null ? await states.create(key, value) : await states.replace(key, value, stored.etag)
            if (written.status === 'written') return
            stored = await states.read(key)
          }
        },
      }
    },
  }
}

/** A damaged entry, or one of another version, has no rows: the next answer replaces it. */
function rowsOf(value: unknown): StoredRow[] {
  return Entry.safeParse(value).data?.answers ?? []
}

/** The rows with the new one, newest first; `null` when a newer answer to the same question is there. */
function added(rows: readonly StoredRow[], row: StoredRow): StoredRow[] | null {
  const before = rows.find(({ id }) => id === row.id)
  if (before && before.askedAt >= row.askedAt && before.since >= row.since) return null
  const others = rows.filter(({ id, askedAt }) => id !== row.id && row.askedAt - askedAt < KEPT_SECONDS * 1000)
  const newest = [row, ...others].sort((one, other) => other.askedAt - one.askedAt)
  const values = newest.filter(({ value }) => value !== null).slice(0, KEPT_VALUES)
  return [...values, ...newest.filter(({ value }) => value === null).slice(0, KEPT_MISSING)]
}
