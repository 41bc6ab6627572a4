import { setTimeout as sleep } from 'node:timers/promises'
import type { BlobStore } from '#core/ports/blob-store.ts'

/** Counts reads, and makes every one take as long as from an object store: reads of one moment take it side by side. */
export interface SlowReads {
  readonly reads: number
  readonly bytes: number
  /** Any read, of so many bytes. */
  delay<Value>(value: Value, bytes: number): Promise<Value>
}

/** One request and its way back; then the bytes of the answer. */
export const READ_MILLISECONDS = 15
const BYTES_PER_MILLISECOND = 80_000

export function createSlowReads(isSlow = true): SlowReads {
  let reads = 0
  let bytes = 0
  return {
    get reads() {
      return reads
    },
    get bytes() {
      return bytes
    },
    async delay(value, length) {
      reads++
      bytes += length
      if (isSlow) await sleep(READ_MILLISECONDS + length / BYTES_PER_MILLISECOND)
      return value
    },
  }
}

export function slowed(blobs: BlobStore, slow: SlowReads): BlobStore {
  return {
    ...blobs,
    async read(key) {
      const blob = await blobs.read(key)
      return slow.delay(blob, blob?.bytes.length ?? 0)
    },
    async readRange(key, offset, length) {
      const bytes = await blobs.readRange(key, offset, length)
      return slow.delay(bytes, bytes?.length ?? 0)
    },
  }
}
