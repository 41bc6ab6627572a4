import type { RowOf, SnapshotHeader, TableName } from '#core/snapshot/format.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'

/** A snapshot that was never stored: its rows and records as the indexer wrote them. */
export interface KeptSnapshot extends Pick<SnapshotHeader, 'truncated' | 'root'> {
  rows<Name extends TableName>(name: Name): ReadonlyMap<string, RowOf<Name>>
  /** The bytes of a record; a `Location` is what the indexer was told when it added them. */
  record(location: readonly [pack: number, offset: number, length: number]): Uint8Array
}

/** A writer that keeps what it is given, at most as many bytes as one snapshot holds. */
export function createKeptSnapshot(): SnapshotWriter<KeptSnapshot> {
  const records: Uint8Array[] = []
  const tables = new Map<TableName, ReadonlyMap<string, unknown>>()
  return {
    async addRecord(_oid, bytes) {
      return [0, records.push(bytes) - 1, Math.max(1, bytes.length)]
    },
    async addTable(name, rows) {
      tables.set(name, new Map(rows))
    },
    async finish({ truncated, root }) {
      return {
        truncated,
        root,
        rows: <Name extends TableName>(name: Name) => (tables.get(name) ?? new Map()) as ReadonlyMap<string, RowOf<Name>>,
        record([, number]) {
          const bytes = records[number]
          if (!bytes) throw new RangeError(`there is no record ${number}`)
          return bytes
        },
      }
    },
  }
}
