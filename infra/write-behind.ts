import type { BlobStore } from '#core/ports/blob-store.ts'
import type { Clock } from '#core/ports/system.ts'

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
  const waiting = new Map<string, { bytes: Uint8Array; createdAt: Date }>()
  return {
    async create(key, bytes) {
      if (waiting.has(key) || (await behind.readRange(key, 0, 1)) !== null) return 'exists'
      waiting.set(key, { bytes: Uint8Array.from(bytes), createdAt: clock.now() })
      return 'created'
    },
    read: async key => waiting.get(key) ?? (await behind.read(key)),
    readRange: async (key, offset, length) =>
      waiting.get(key)?.bytes.subarray(offset, offset + length) ?? (await behind.readRange(key, offset, length)),
    async list(prefix, options = {}) {
      const { after = '', limit } = options
      const own = [...waiting.keys()].filter(key => key.startsWith(prefix) && key > after)
      return [...new Set([...own, ...(await behind.list(prefix, options))])].sort().slice(0, limit)
    },
    async remove(key) {
      waiting.delete(key)
      await behind.remove(key)
    },
    async flush(signal) {
      const written: string[] = []
      try {
        for (const [key, { bytes }] of waiting) {
          signal.throwIfAborted()
          if ((await behind.create(key, bytes)) === 'created') written.push(key)
        }
        signal.throwIfAborted()
        waiting.clear()
        return written.length > 0
      } catch (error) {
        // The header, which was written last, goes first.
        for (const key of written.reverse()) await behind.remove(key).catch(() => {})
        throw error
      }
    },
    close: () => behind.close(),
  }
}
