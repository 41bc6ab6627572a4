import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { memoryOfText } from '#core/memory.ts'
import type { Metrics } from '#core/ports/metrics.ts'

/** A value, and the memory that it takes. */
export interface Loaded<Value> {
  value: Value
  sizeBytes: number
  /** After this time it is read again. Default: never. */
  ttlMs?: number
}

/**
 * Caches values up to a total size and evicts the least recently used. Parallel reads of one key are a single flight. Failures and `null` are
 * not cached.
 */
export interface Cache {
  get<Value>(key: string, read: () => Promise<Loaded<Value>>): Promise<Value>
  get<Value>(key: string, read: () => Promise<Loaded<Value> | null>): Promise<Value | null>
  /** Removes the value, unless it was replaced by another one. */
  forget(key: string, value: unknown): void
  /** Bytes of all entries, as counted. */
  readonly sizeBytes: number
}

/** Where the lookups and the size of a cache are recorded. */
export interface CacheMetrics {
  /** The name of the cache in the metrics. */
  cache: string
  metrics: Metrics
}

/** Memory of an entry beside its key and value. */
const ENTRY_BYTES = 256

/** @param maxBytes the largest total size of the entries */
export function createCache(maxBytes: number, recorded?: CacheMetrics): Cache {
  const lookups = { hit: 0, miss: 0 }
  const kept = new LRUCache<string, { value: unknown }>({ maxSize: maxBytes })
  const flights = createSingleFlight<unknown>()

  async function load<Value>(key: string, read: () => Promise<Loaded<Value> | null>): Promise<Value | null> {
    const loaded = await read()
    if (loaded === null) return null
    const { value, sizeBytes, ttlMs = 0 } = loaded
    kept.set(key, { value }, { size: sizeBytes + memoryOfText(key) + ENTRY_BYTES, ttl: ttlMs })
    return value
  }

  async function get<Value>(key: string, read: () => Promise<Loaded<Value> | null>): Promise<Value | null> {
    const found = kept.get(key)
    if (found) {
      lookups.hit++
      return found.value as Value
    }
    let isHit = true
    const value = flights.run(key, () => {
      isHit = false
      return load(key, read)
    })
    lookups[isHit ? 'hit' : 'miss']++
    return value as Promise<Value | null>
  }

  if (recorded) recordBeforeRead(recorded, lookups, () => kept.calculatedSize)
  return {
    get,
    forget(key, value) {
      if (kept.peek(key)?.value === value) kept.delete(key)
    },
    get sizeBytes() {
      return kept.calculatedSize
    },
  }
}

/** Records the lookups since the last time, and the size. */
function recordBeforeRead(
  { cache, metrics }: CacheMetrics,
  lookups: { hit: number; miss: number },
  sizeBytes: () => number,
): void {
  metrics.beforeRead(() => {
    for (const result of ['hit', 'miss'] as const) {
      metrics.record('mountglass_cache_lookups_total', { cache, result }, lookups[result])
      lookups[result] = 0
    }
    metrics.record('mountglass_cache_bytes', { cache }, sizeBytes())
  })
}

/** The bytes in a buffer of their own: a view keeps its whole buffer in memory. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength >= OWN_SHARE * bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
}

/** A view of at least this share of its buffer is not copied. */
const OWN_SHARE = 0.9
