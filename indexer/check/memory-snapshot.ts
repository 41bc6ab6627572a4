import { MANIFEST_FILE, type RepoPath, SKILL_FILE } from '#core/repo-path.ts'
import type { RowOf, SnapshotHeader, TableName } from '#core/snapshot/format.ts'
import { decodeText } from '#core/text.ts'
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

/** A tree that caches the skills and manifests read from it: a snapshot holds only what is served, findings name lines of any of them. */
interface TreeWithTexts extends RepositoryTree {
  /** The text of a skill or manifest; `null` when no file has this path, or its bytes were not read or are not text. */
  textOf(path: string): string | null
  /** Every `SKILL.md` in the tree. */
  skillPaths: readonly string[]
}

export function rememberTexts(tree: RepositoryTree): TreeWithTexts {
  const oids = new Map(
    tree.entries.flatMap(({ path, mode, oid }) =>
      path !== null && mode !== '120000' && isWanted(path) ? [[path, oid] as const] : [],
    ),
  )
  const wantedIds = new Set(oids.values())
  const bytesById = new Map<string, Uint8Array>()
  return {
    entries: tree.entries,
    skillPaths: [...oids.keys()].filter(path => isSkillPlace(path as RepoPath)),
    async *read(wanted, maxBytes) {
      for await (const blob of tree.read(wanted, maxBytes)) {
        if (blob.bytes !== null && wantedIds.has(blob.oid)) bytesById.set(blob.oid, blob.bytes)
        yield blob
      }
    },
    textOf(path) {
      const bytes = bytesById.get(oids.get(path) ?? '')
      return bytes ? decodeText(bytes) : null
    },
  }
}

function isWanted(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name === SKILL_FILE || name === MANIFEST_FILE
}
