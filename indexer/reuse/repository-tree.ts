import type { RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'

/** A repository whose tree was read: its entries, and its blobs by id. */
export interface RepositoryTree {
  readonly entries: readonly TreeEntry[]
  readonly read: RepositoryReader['read']
}

/** The blobs of a repository; see `RepositoryReader`. */
export type BlobReader = Pick<RepositoryReader, 'read'>
