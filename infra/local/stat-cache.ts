import { LRUCache } from 'lru-cache'
import { memoryOf } from '#core/memory.ts'
import { type FileStamps, isFresh, StampCollector, type Watch } from './file-stamps.ts'

/** A computed value. `keep: false`: the watched files do not show when the value changes, so it is not cached. */
export interface Computed<Value> {
  value: Value
  keep: boolean
  /** Estimated memory of the value. Default: measured by `memoryOf`, which visits all of it. */
  bytes?: number
}

interface Entry<Value> {
  value: Value
  /** Estimated memory of the value. */
  bytes: number
  stamps: FileStamps
}

interface Flight<Value> {
  order: number
  value: Promise<Value>
}

const MAX_BYTES = 16 * 1024 * 1024
/** Estimated memory of all entries that say that there is nothing. */
const ABSENT_BYTES = 4 * 1024 * 1024
/** Estimated memory of an entry besides its key, value and watched paths. */
const ENTRY_BYTES = 300

/**
 * Caches values computed from files until one of these files changes.
 *
 * A returned value was current at some instant after the call: every `get` checks all files of the value. Callers may share a computation,
 * but never one that began before their call.
 */
export class StatCache<Value> {
  /** Separate from `#absent`: names of nothing are endless, and must not evict values. */
  readonly #found: LRUCache<string, Entry<Value>>
  /** Entries whose value is `null`. */
  readonly #absent: LRUCache<string, Entry<Value>>
  readonly #flights = new Map<string, Flight<Value>>()
  #order = 0

  /** @param maxBytes estimated memory of all values with their keys and watched paths; the least recently used is evicted first */
  constructor(maxBytes = MAX_BYTES) {
    const sizeCalculation = ({ bytes, stamps }: Entry<Value>, key: string) =>
      ENTRY_BYTES + memoryOf(key) + memoryOf(stamps) + bytes
    this.#found = new LRUCache({ maxSize: maxBytes, sizeCalculation })
    this.#absent = new LRUCache({ maxSize: Math.min(maxBytes, ABSENT_BYTES), sizeCalculation })
  }

  /** Estimated memory of all entries. */
  get sizeBytes(): number {
    return this.#found.calculatedSize + this.#absent.calculatedSize
  }

  /** The cached value if it is current, else `null`. It computes nothing. */
  cached(key: string): { value: Value } | null {
    return this.#current(key)
  }

  /** The cached value, or that of `compute`. @throws what `compute` throws */
  async get(key: string, compute: (watch: Watch) => Promise<Computed<Value>>): Promise<Value> {
    const order = this.#order++
    for (;;) {
      const entry = this.#current(key)
      if (entry) return entry.value
      const flight = this.#flights.get(key)
      if (!flight) return this.#start(key, compute)
      if (flight.order > order) return flight.value
      await flight.value.catch(() => {}) // its own callers get the error
    }
  }

  #current(key: string): Entry<Value> | null {
    const entry = this.#found.get(key) ?? this.#absent.get(key)
    if (!entry) return null
    if (isFresh(entry.stamps)) return entry
    this.#found.delete(key)
    this.#absent.delete(key)
    return null
  }

  #keep(key: string, entry: Entry<Value>): void {
    const [here, there] = entry.value === null ? [this.#absent, this.#found] : [this.#found, this.#absent]
    there.delete(key)
    here.set(key, entry)
  }

  #start(key: string, compute: (watch: Watch) => Promise<Computed<Value>>): Promise<Value> {
    const value = this.#compute(key, compute).finally(() => this.#flights.delete(key))
    this.#flights.set(key, { order: this.#order++, value })
    return value
  }

  async #compute(key: string, compute: (watch: Watch) => Promise<Computed<Value>>): Promise<Value> {
    const collector = new StampCollector()
    const { value, keep, bytes } = await compute(collector.watch)
    const { stamps, isSettled } = collector
    if (keep && isSettled) this.#keep(key, { value, stamps, bytes: bytes ?? memoryOf(value) })
    return value
  }
}
