import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Location } from '#core/snapshot/format.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'
import type { KnownText, TextReading } from '../snapshot/text-readings.ts'

/** Writes and digests the record of every blob once. */
export class RecordWriter {
  readonly #writer: Pick<SnapshotWriter, 'addRecord' | 'keepRecord'>
  readonly #digests = new Map<string, string>()
  readonly #locations = new Map<string, Location>()
  readonly #writing = new Map<string, Promise<Location>>()

  constructor(writer: Pick<SnapshotWriter, 'addRecord' | 'keepRecord'>) {
    this.#writer = writer
  }

  /** `null` until the record is written. */
  locationOf(oid: string): Location | null {
    return this.#locations.get(oid) ?? null
  }

  /** SHA-256 of a blob that was written. */
  digestOf(oid: string): string {
    return this.#digests.get(oid) as string
  }

  /** Refers to a record that an earlier snapshot holds. */
  keep(oid: string, { sha256 }: KnownText): Location | Promise<Location> {
    const written = this.#locations.get(oid) ?? this.#writing.get(oid)
    if (written) return written
    const record = this.#writer.keepRecord(oid)
    this.#digests.set(oid, sha256)
    this.#locations.set(oid, record)
    return record
  }

  async write(oid: string, bytes: Uint8Array, reading: TextReading | null): Promise<Location> {
    const written = this.#locations.get(oid) ?? this.#writing.get(oid)
    if (written) return written
    const sha256 = hash('sha256', bytes, 'hex')
    const record = this.#writer.addRecord(oid, bytes, reading && { reading, sha256, crc32: crc32(bytes) })
    this.#writing.set(oid, record)
    this.#digests.set(oid, sha256)
    this.#locations.set(oid, await record)
    this.#writing.delete(oid)
    return record
  }
}
