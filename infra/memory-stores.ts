import type { BlobStore, ListOptions } from '#core/ports/blob-store.ts'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import { requireCount, requireKey, requirePrefix } from '#core/ports/store-arguments.ts'
import type { Clock } from '#core/ports/system.ts'

/** Entries in the memory of one process, as text: callers share no objects with the store. */
export function createMemoryStateStore(): StateStore {
  const entries = new Map<string, { body: string; etag: string }>()
  let writes = 0

  function write(key: string, value: JsonValue) {
    const etag = String(++writes)
    entries.set(key, { body: JSON.stringify(value), etag })
    return { status: 'written', etag } as const
  }

  return {
    async read(key) {
      requireKey(key)
      const stored = entries.get(key)
      return stored ? { value: JSON.parse(stored.body), etag: stored.etag } : null
    },

    async create(key, value) {
      requireKey(key)
      return entries.has(key) ? { status: 'conflict' } : write(key, value)
    },

    async replace(key, value, etag) {
      requireKey(key)
      return entries.get(key)?.etag === etag ? write(key, value) : { status: 'conflict' }
    },

    async remove(key) {
      requireKey(key)
      entries.delete(key)
    },

    async list(prefix, options = {}) {
      return selectKeys(entries.keys(), prefix, options)
    },

    async close() {},
  }
}

/** Blobs in the memory of one process. Copies bytes in and out. */
export function createMemoryBlobStore(clock: Clock): BlobStore {
  const objects = new Map<string, { bytes: Uint8Array; createdAt: Date }>()

  return {
    async create(key, bytes) {
      requireKey(key)
      if (objects.has(key)) return 'exists'
      objects.set(key, { bytes: Uint8Array.from(bytes), createdAt: clock.now() })
      return 'created'
    },

    async read(key) {
      requireKey(key)
      const object = objects.get(key)
      return object ? { bytes: object.bytes.slice(), createdAt: new Date(object.createdAt) } : null
    },

    async readRange(key, offset, length) {
      requireKey(key)
      requireCount('offset', offset)
      requireCount('length', length)
      return objects.get(key)?.bytes.slice(offset, offset + length) ?? null
    },

    async list(prefix, options = {}) {
      return selectKeys(objects.keys(), prefix, options)
    },

    async remove(key) {
      requireKey(key)
      objects.delete(key)
    },

    async close() {},
  }
}

/** The keys of one page of a listing, in byte order. */
function selectKeys(keys: Iterable<string>, prefix: string, { after = '', limit }: ListOptions): string[] {
  requirePrefix(prefix)
  if (limit !== undefined) requireCount('limit', limit)
  // Keys are ASCII, so code units compare as bytes do.
  return [...keys]
    .filter(key => key.startsWith(prefix) && key > after)
    .sort()
    .slice(0, limit)
}
