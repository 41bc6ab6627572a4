import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import { requireKey } from '#core/ports/store-arguments.ts'
import { selectKeys } from './select-keys.ts'

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
