import {
  type DeliveredDocument,
  type DeliveredFacts,
  type DeliveredManifest,
  type DeliveredRow,
  type DeliveredSkill,
  pathOfKey,
} from '../snapshot/delivered.ts'

/**
 * One side of a comparison as plain data: what a commit, or a working folder, delivers. Items that are known to be the same on both sides may be
 * left out of both.
 */
export interface DeliveredItems {
  /** By path. */
  skills: ReadonlyMap<string, DeliveredSkill>
  documents: ReadonlyMap<string, DeliveredDocument>
  manifests: ReadonlyMap<string, DeliveredManifest>
}

/** What has to be read of one side, besides its items. */
export interface DeliveredReads {
  /** The text that decides whether an item moved: the body of a skill, the whole file of a document. Both are served in full. */
  textOf(kind: 'skill' | 'document', path: string): Promise<string>
  /** The facts of texts that skills share, by `textKey`. A text without facts has none. */
  factsOf(keys: readonly string[]): Promise<ReadonlyMap<string, DeliveredFacts>>
  /** Those of the hosts that any text of the commit links to, wherever it lies. */
  knownHosts(hosts: readonly string[]): Promise<ReadonlySet<string>>
}

/** The items of rows of the table `delivered`. Rows of pages are documents: pass them only for a mount inside a skill. */
export function itemsOfRows(rows: Iterable<readonly [key: string, row: DeliveredRow]>): DeliveredItems {
  const skills = new Map<string, DeliveredSkill>()
  const documents = new Map<string, DeliveredDocument>()
  const manifests = new Map<string, DeliveredManifest>()
  for (const [key, row] of rows) {
    if (row.kind === 'skill') skills.set(pathOfKey(key), row)
    else if (row.kind === 'document') documents.set(pathOfKey(key), row)
    else if (row.kind === 'manifest') manifests.set(pathOfKey(key), row)
  }
  return { skills, documents, manifests }
}

/** An item on one side. */
export interface Sided<Row> {
  path: string
  row: Row
}

/** An item on both sides, or on one. */
export interface Compared<Row> {
  before: Sided<Row> | null
  after: Sided<Row> | null
}

/** Both sides of an item that is on both. */
export interface Both<Row> {
  before: Sided<Row>
  after: Sided<Row>
}
