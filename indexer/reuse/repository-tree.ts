import type { RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import type { TextReading } from '../snapshot/text-readings.ts'

/** A repository whose tree was read: its entries, and its blobs by id. */
export interface RepositoryTree {
  readonly entries: readonly TreeEntry[]
  readonly read: RepositoryReader['read']
  /** What an earlier commit read of a Markdown text, by its blob id; `null`: it has to be parsed. Default: nothing is known. */
  readonly readingOf?: (oid: string) => TextReading | null
}

/** The blobs of a repository. */
export type BlobReader = Omit<RepositoryTree, 'entries'>
