import type { Location, PackEntry, TableName } from '#core/snapshot/format.ts'

/** For the writer of the snapshot. Asked once the tree was read. */
export interface ReusedParts {
  /** The first packs of the new snapshot. */
  packs(): readonly PackEntry[]
  /** Where the record of a blob lies that was read from there. */
  record(oid: string): Location | null
  /** Where a shard of a table lies that has exactly these bytes. */
  shard(table: TableName, firstKey: string, bytes: Uint8Array): Promise<Location | null>
  /** The next bytes of the search section, in pieces. */
  pieces(bytes: Uint8Array): Promise<SectionPiece[]>
  /** Blobs of which the size was told and that were not read: no directory knows them yet. */
  unread(): Iterable<readonly [oid: string, sizeBytes: number]>
}

/** A piece of a search section: where its bytes lie already, or the bytes themselves. */
export type SectionPiece = { known: Location } | { fresh: Uint8Array }
