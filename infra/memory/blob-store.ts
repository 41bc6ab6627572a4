import type { BlobStore } from '#core/ports/blob-store.ts'
import { requireCount, requireKey } from '#core/ports/store-arguments.ts'
import type { Clock } from '#core/ports/system.ts'
import { selectKeys } from './select-keys.ts'

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
