import type { RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import type { KnownText } from './text-readings.ts'

/** A repository whose tree was read: its entries, and its blobs by id. */
export interface RepositoryTree {
  readonly entries: readonly TreeEntry[]
  readonly read: RepositoryReader['read']
  /** Default: nothing is known. */
  readonly known?: KnownTexts
}

/** What an earlier commit knows of Markdown texts, by their blob ids. */
export interface KnownTexts {
  has(oid: string): boolean
  /** `null`: the text has to be parsed. */
  find(oid: string): KnownText | null
  /** Whether the next snapshot can refer to the stored bytes, which need not be unpacked then. @param crc32 of the text */
  hold(oid: string, crc32: number): Promise<boolean>
}

/** The blobs of a repository. */
export type BlobReader = Omit<RepositoryTree, 'entries'>
