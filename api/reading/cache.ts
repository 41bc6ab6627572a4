import { LRUCache } from 'lru-cache'

/** What was read, and how many bytes of memory it takes. */
export interface Loaded<Value> {
  value: Value
  size: number
}

/** Keeps values by their size, the last used ones. Of parallel reads of one key one is done. A failure, or `null`, is not kept. */
export interface Cache {
  get<Value>(key: string, read: () => Promise<Loaded<Value>>): Promise<Value>
  get<Value>(key: string, read: () => Promise<Loaded<Value> | null>): Promise<Value | null>
  /** Bytes kept, as counted. */
  readonly size: number
}

/** What an entry takes beside its value. */
const ENTRY_BYTES = 256

export function createCache(maxBytes: number): Cache {
  const kept = new LRUCache<string, { value: unknown }>({ maxSize: maxBytes })
  const running = new Map<string, Promise<unknown>>()

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
    if (found) return Promise.resolve(found.value as Value)
    const already = running.get(key)
    if (already) return already as Promise<Value | null>
    // Never before it is noted below, even where the read throws at once: a failure would stay.
    const reading = load(key, read).finally(() => running.delete(key))
    running.set(key, reading)
    return reading
  }

  return {
    get,
    get size() {
      return kept.calculatedSize
    },
  }
}

/** The bytes in memory of their own: a view would keep the whole buffer that it is a part of. */
export function ownCopy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes)
}
