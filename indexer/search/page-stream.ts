import { crc32 } from 'node:zlib'
import { PAGE_BYTES } from '#core/search/head.ts'
import type { Location } from '#core/snapshot/format.ts'
import { appendSegment } from '#core/snapshot/segments.ts'

/** Where a section is stored: bytes are appended, and resolve to their locations. */
export interface SectionPlace {
  addBytes(bytes: Uint8Array): Promise<Location[]>
}

const BUFFER_BYTES = 64 * PAGE_BYTES

/** Buffers the bytes of a section, stores them some pages at a time, and computes the checksum of every page. */
export class PageStream {
  readonly #place: SectionPlace
  readonly #segments: Location[] = []
  readonly #checksums: number[] = []
  #buffer = new Uint8Array(BUFFER_BYTES)
  #buffered = 0
  #storedBytes = 0
  #isPaged = true

  constructor(place: SectionPlace) {
    this.#place = place
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#storedBytes + this.#buffered
  }

  /** Returns a promise only if the next bytes have to wait for it. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#buffered + bytes.length >= BUFFER_BYTES) return this.#writeThrough(bytes)
    this.#fill(bytes)
    return undefined
  }

  /** Ends the pages and returns their checksums; bytes written later have none. */
  endPages(): Uint32Array {
    this.#addChecksums()
    this.#isPaged = false
    return Uint32Array.from(this.#checksums)
  }

  /** Stores the rest and returns the locations of all bytes. */
  async end(): Promise<Location[]> {
    if (this.#buffered > 0) await this.#store()
    return this.#segments
  }

  async #writeThrough(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      at += this.#fill(bytes.subarray(at))
      if (this.#buffered < BUFFER_BYTES) continue
      this.#addChecksums()
      await this.#store()
    }
  }

  /** Buffers the first bytes that fit and returns their count. */
  #fill(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, BUFFER_BYTES - this.#buffered)
    this.#buffer.set(bytes.subarray(0, taken), this.#buffered)
    this.#buffered += taken
    return taken
  }

  #addChecksums(): void {
    if (!this.#isPaged) return
    for (let at = 0; at < this.#buffered; at += PAGE_BYTES) {
      this.#checksums.push(crc32(this.#buffer.subarray(at, Math.min(this.#buffered, at + PAGE_BYTES))))
    }
  }

  async #store(): Promise<void> {
    const bytes = this.#buffer.subarray(0, this.#buffered)
    this.#storedBytes += this.#buffered
    // The stored bytes are not copied: they stay part of the open pack.
    this.#buffer = new Uint8Array(BUFFER_BYTES)
    this.#buffered = 0
    for (const location of await this.#place.addBytes(bytes)) appendSegment(this.#segments, location)
  }
}
