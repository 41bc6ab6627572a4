import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import type { Metrics } from '#core/ports/metrics.ts'

/** What was read, and how many bytes of memory it takes. */
export interface Loaded<Value> {
  value: Value
  size: number
}

/** Keeps values by their size, the last used ones. Of parallel reads of one key one is done. A failure, or `null`, is not kept. */
export interface Cache {
  get<Value>(key: string, read: () => Promise<Loaded<Value>>): Promise<Value>
  get<Value>(key: string, read: () => Promise<Loaded<Value> | null>): Promise<Value | null>
  /** Lets go of the value, unless it is another one by now. */
  forget(key: string, value: unknown): void
  /** Bytes kept, as counted. */
  readonly size: number
}

/** Under which name a cache is watched, and by whom. */
export interface Watched {
  cache: string
  metrics: Metrics
}

/** What an entry takes beside its value. */
const ENTRY_BYTES = 256

export function createCache(maxBytes: number, watched?: Watched): Cache {
  let hits = 0
  let misses = 0
  const kept = new LRUCache<string, { value: unknown }>({ maxSize: maxBytes })
  const flights = createSingleFlight<unknown>()

  async function load<Value>(key: string, read: () => Promise<Loaded<Value> | null>): Promise<Value | null> {
    const loaded = await read()
    if (loaded === null) return null
    kept.set(key, { value: loaded.value }, { size: loaded.size + ENTRY_BYTES })
    return loaded.value
  }

  function get<Value>(key: string, read: () => Promise<Loaded<Value>>): Promise<Value>
  function get<Value>(key: string, read: () => Promise<Loaded<Value> | null>): Promise<Value | null>
  function get<Value>(key: string, read: () => Promise<Loaded<Value> | null>): Promise<Value | null> {
    const found = kept.get(key)
    let isHit = true
    const value = found
      ? Promise.resolve(found.value)
      : flights.run(key, () => {
          isHit = false
          return load(key, read)
        })
    if (isHit) hits++
    else misses++
    return value as Promise<Value | null>
  }

  if (watched) {
    const { cache, metrics } = watched
    metrics.beforeRead(() => {
      metrics.record('mountglass_cache_lookups_total', { cache, result: 'hit' }, hits)
      metrics.record('mountglass_cache_lookups_total', { cache, result: 'miss' }, misses)
      metrics.record('mountglass_cache_bytes', { cache }, kept.calculatedSize)
      hits = 0
      misses = 0
    })
  }
  return {
    get,
    forget(key, value) {
      if (kept.peek(key)?.value === value) kept.delete(key)
    },
    get size() {
      return kept.calculatedSize
    },
  }
}

/** The bytes in memory of their own: a view would keep the whole buffer that it is a part of. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength >= OWN_SHARE * bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
}

/** Of a buffer: what is left of it is not worth a copy. */
const OWN_SHARE = 0.9
