import { crc32 } from 'node:zlib'
import { NO_BYTES } from '#core/search/bytes.ts'
import { PAGE_BYTES } from '#core/search/head.ts'
import { DamagedBytes, FormatError } from '#core/snapshot/damage.ts'
import { type Cache, ownBytes } from '../snapshot/cache.ts'

/** Bytes from `start` up to, not including, `end`. */
export interface Range {
  start: number
  end: number
}

/** A file whose bytes are verified against checksums before they are returned. */
export interface CheckedFile {
  /**
   * The bytes of every range, in one round of reads. They are shared: do not change or keep them.
   *
   * @throws FormatError for a range outside the file, DamagedBytes when bytes are missing or damaged
   */
  read(ranges: readonly Range[]): Promise<Uint8Array[]>
}

/** A file that is read by pages on demand. */
export interface PagedFile {
  /** Identifies the file in the cache. */
  key: string
  sizeBytes: number
  /** CRC-32 of every page of `PAGE_BYTES`; the last page may be shorter. */
  checksums: Uint32Array
  /** Reads started in one turn of the event loop are one round. */
  read(range: Range): Promise<Uint8Array>
}

/** Opens a file whose pages are read when they are needed, verified and cached. */
export function openPages(cache: Cache, { key, sizeBytes, checksums, read }: PagedFile): CheckedFile {
  requirePages(checksums, sizeBytes)

  async function page(number: number): Promise<Uint8Array> {
    return await cache.get(`${key} page ${number}`, async () => {
      const start = number * PAGE_BYTES
      const bytes = await read({ start, end: Math.min(sizeBytes, start + PAGE_BYTES) })
      requireIntact(bytes, checksums, number)
      return { value: ownBytes(bytes), sizeBytes: bytes.length }
    })
  }

  async function readRange({ start, end }: Range): Promise<Uint8Array> {
    requireInside({ start, end }, sizeBytes)
    if (start === end) return NO_BYTES
    const first = Math.floor(start / PAGE_BYTES)
    const last = Math.floor((end - 1) / PAGE_BYTES)
    const pages = await Promise.all(Array.from({ length: last - first + 1 }, (_, index) => page(first + index)))
    const from = start - first * PAGE_BYTES
    return (pages.length === 1 ? (pages[0] ?? NO_BYTES) : Buffer.concat(pages)).subarray(from, from + end - start)
  }

  return { read: ranges => Promise.all(ranges.map(readRange)) }
}

/**
 * Opens a file that is in memory, and verifies all of it.
 *
 * @throws DamagedBytes when one of its pages is damaged
 */
export function openBytes(bytes: Uint8Array, checksums: Uint32Array): CheckedFile {
  requirePages(checksums, bytes.length)
  for (const number of checksums.keys()) {
    requireIntact(bytes.subarray(number * PAGE_BYTES, (number + 1) * PAGE_BYTES), checksums, number)
  }
  return {
    async read(ranges) {
      return ranges.map(range => {
        requireInside(range, bytes.length)
        return bytes.subarray(range.start, range.end)
      })
    },
  }
}

function requirePages(checksums: Uint32Array, sizeBytes: number): void {
  if (checksums.length !== Math.ceil(sizeBytes / PAGE_BYTES))
    throw new FormatError(`${checksums.length} checksums for ${sizeBytes} bytes`)
}

function requireIntact(page: Uint8Array, checksums: Uint32Array, number: number): void {
  if (crc32(page) !== checksums[number]) throw new DamagedBytes(`page ${number} is damaged: its checksum does not match`)
}

function requireInside({ start, end }: Range, sizeBytes: number): void {
  if (start < 0 || end < start || end > sizeBytes) throw new FormatError(`bytes ${start} to ${end} lie outside ${sizeBytes}`)
}
