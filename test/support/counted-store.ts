import type { BlobStore } from '#core/ports/blob-store.ts'

/** What a store was asked since the last `reset`. */
export interface StoreCounts {
  puts: number
  /** Of the objects that were put, those that were there already among them. */
  putBytes: number
  gets: number
  getBytes: number
}

export interface CountedStore {
  blobs: BlobStore
  readonly counts: Readonly<StoreCounts>
  reset(): void
}

export function countStore(blobs: BlobStore): CountedStore {
  const counts = { puts: 0, putBytes: 0, gets: 0, getBytes: 0 }
  const got = (bytes: Uint8Array | undefined | null) => {
    counts.gets++
    counts.getBytes += bytes?.length ?? 0
  }
  return {
    counts,
    reset: () => void Object.assign(counts, { puts: 0, putBytes: 0, gets: 0, getBytes: 0 }),
    blobs: {
      ...blobs,
      create(key, bytes) {
        counts.puts++
        counts.putBytes += bytes.length
        return blobs.create(key, bytes)
      },
      async read(key) {
        const found = await blobs.read(key)
        got(found?.bytes)
        return found
      },
      async readRange(key, offset, length) {
        const bytes = await blobs.readRange(key, offset, length)
        got(bytes)
        return bytes
      },
    },
  }
}
