import type { BlobStore } from '#core/ports/blob-store.ts'
import type { Clock } from '#core/ports/system.ts'
import { createMemoryBlobStore } from './memory-stores.ts'

/** A store that keeps new objects in memory until they are flushed to the one behind it. */
export interface WriteBehindStore extends BlobStore {
  /**
   * Writes the new objects to the store behind, in the order of their creation, and returns whether there were any. If it throws, what it wrote is
   * removed again.
   *
   * @throws the reason of the signal, or the error of the store behind
   */
  flush(signal: AbortSignal): Promise<boolean>
}

/** @param behind is closed with the store */
export function createWriteBehindStore(behind: BlobStore, clock: Clock): WriteBehindStore {
  const front = createMemoryBlobStore(clock)
  /** In the order of their creation. */
  const waiting = new Set<string>()
  return {
    async create(key, bytes) {
      if ((await behind.readRange(key, 0, 1)) !== null) return 'exists'
      const outcome = await front.create(key, bytes)
      waiting.add(key)
      return outcome
    },
    read: async key => (await front.read(key)) ?? (await behind.read(key)),
    readRange: async (key, offset, length) =>
      (await front.readRange(key, offset, length)) ?? (await behind.readRange(key, offset, length)),
    async list(prefix, options = {}) {
      const lists = await Promise.all([front.list(prefix, options), behind.list(prefix, options)])
      return [...new Set(lists.flat())].sort().slice(0, options.limit)
    },
    async remove(key) {
      waiting.delete(key)
      await front.remove(key)
      await behind.remove(key)
    },
    async flush(signal) {
      const written: string[] = []
      try {
        for (const key of waiting) {
          signal.throwIfAborted()
          const object = await front.read(key)
          if (object !== null && (await behind.create(key, object.bytes)) === 'created') written.push(key)
        }
        signal.throwIfAborted()
      } catch (error) {
        // The header, which was written last, goes first.
        for (const key of written.reverse()) await behind.remove(key).catch(() => {})
        throw error
      }
      for (const key of waiting) await front.remove(key)
      waiting.clear()
      return written.length > 0
    },
    close: () => behind.close(),
  }
}
