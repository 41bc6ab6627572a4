import type { DocStore, JsonValue } from '#core/ports/doc-store.ts'
import { requireKey } from '#core/ports/store-arguments.ts'
import { selectKeys } from './select-keys.ts'

/** Documents of one process, gone with it. They are kept as text, so that no caller holds a part of them. */
export function createMemoryDocStore(): DocStore {
  const docs = new Map<string, { body: string; etag: string }>()
  let writes = 0

  function write(key: string, value: JsonValue) {
    const etag = String(++writes)
    docs.set(key, { body: JSON.stringify(value), etag })
    return { status: 'written', etag } as const
  }

  return {
    async read(key) {
      requireKey(key)
      const doc = docs.get(key)
      return doc ? { value: JSON.parse(doc.body), etag: doc.etag } : null
    },

    async create(key, value) {
      requireKey(key)
      return docs.has(key) ? { status: 'conflict' } : write(key, value)
    },

    async replace(key, value, etag) {
      requireKey(key)
      return docs.get(key)?.etag === etag ? write(key, value) : { status: 'conflict' }
    },

    async remove(key) {
      requireKey(key)
      docs.delete(key)
    },

    async list(prefix, options = {}) {
      return selectKeys(docs.keys(), prefix, options)
    },

    async close() {},
  }
}
