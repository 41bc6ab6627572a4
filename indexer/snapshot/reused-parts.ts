import type { Location, PackEntry, TableName } from '#core/snapshot/format.ts'

/** The parts of an earlier snapshot that the next one refers to instead of storing them again. */
export interface ReusedParts {
  /** The first packs of the new snapshot. */
  readonly packs: readonly PackEntry[]
  /** The location of a record, if it was verified; else `null`. */
  record(oid: string): Location | null
  /** The members of readings that stay part of the snapshot. */
  readonly readings: readonly Location[]
  /** Whether one of these members has a reading of the blob. */
  hasReading(oid: string): boolean
  /** The location of a table's shard with exactly these bytes; else `null`. */
  shard(table: TableName, firstKey: string, bytes: Uint8Array): Promise<Location | null>
  /** Cuts the next bytes of the search section into pieces that are stored already and pieces that are not. */
  pieces(bytes: Uint8Array): Promise<SectionPiece[]>
  /** Blobs of known size that were not read so far and that no pack directory lists yet. */
  unread(): Iterable<readonly [oid: string, sizeBytes: number]>
}

/** A piece of a search section: the location of bytes that are stored already, or the bytes themselves. */
export type SectionPiece = { known: Location } | { fresh: Uint8Array }
