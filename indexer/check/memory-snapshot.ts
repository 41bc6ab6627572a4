import type { RepoPath } from '#core/repo-path.ts'
import type { RowOf, SnapshotHeader, TableName } from '#core/snapshot/format.ts'
import { isSkillPlace } from '../rules/content-kind.ts'
import type { RepositoryTree } from '../snapshot/repository-tree.ts'
import type { SnapshotWriter } from '../snapshot/snapshot-writer.ts'

/** A snapshot in memory: the rows and records that the indexer wrote. */
export interface MemorySnapshot extends Pick<SnapshotHeader, 'truncated' | 'root'> {
  rows<Name extends TableName>(name: Name): ReadonlyMap<string, RowOf<Name>>
  /** The bytes of a record. @throws RangeError when there is no such record */
  record(location: readonly [pack: number, offset: number, length: number]): Uint8Array
}

/** A writer of rows and records into memory. The limits of a snapshot bound them. */
export function createMemorySnapshot(): SnapshotWriter<MemorySnapshot> {
  const records: Uint8Array[] = []
  const tables = new Map<TableName, ReadonlyMap<string, unknown>>()
  return {
    async addRecord(_oid, bytes) {
      return [0, records.push(bytes) - 1, Math.max(1, bytes.length)]
    },
    keepRecord() {
      throw new Error('there is no earlier snapshot')
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
          if (!bytes) throw new RangeError(`no record ${number}`)
          return bytes
        },
      }
    },
  }
}

/** Every `SKILL.md` of a tree, in closed folders too. */
export function skillPathsOf({ entries }: Pick<RepositoryTree, 'entries'>): string[] {
  return entries.flatMap(({ path, mode }) => (path !== null && mode !== '120000' && isSkillPlace(path as RepoPath) ? [path] : []))
}
