import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import { requireKey } from '#core/ports/store-arguments.ts'
import { selectKeys } from './select-keys.ts'

/** Documents of one process, gone with it. They are kept as text, so that no caller holds a part of them. */
export function createMemoryStateStore(): StateStore {
  const kept = new Map<string, { body: string; etag: string }>()
  let writes = 0

  function write(key: string, value: JsonValue) {
    const etag = String(++writes)
    kept.set(key, { body: JSON.stringify(value), etag })
    return { status: 'written', etag } as const
  }

  return {
    async read(key) {
      requireKey(key)
      const stored = kept.get(key)
      return stored ? { value: JSON.parse(stored.body), etag: stored.etag } : null
    },

    async create(key, value) {
      requireKey(key)
      return kept.has(key) ? { status: 'conflict' } : write(key, value)
    },

    async replace(key, value, etag) {
      requireKey(key)
      return kept.get(key)?.etag === etag ? write(key, value) : { status: 'conflict' }
    },

    async remove(key) {
      requireKey(key)
      kept.delete(key)
    },

    async list(prefix, options = {}) {
      return selectKeys(kept.keys(), prefix, options)
    },

    async close() {},
  }
}
