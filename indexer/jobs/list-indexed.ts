import { createOwnerListings } from '#core/owner-listings.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { readHeader } from '../snapshot/read-header.ts'

type IndexedCommit = Pick<IndexJob, 'repository' | 'commit'>

/**
 * Lists the repository on the page of its owner if the indexed commit is that of its default branch.
 *
 * @param askIsTip whether it is. Called last: the branch may have moved since the job was offered, and a newer commit may be listed
 * @throws Error when a store fails; the next visit of the default branch lists it
 */
export async function listIndexed(
  { blobs, states }: { blobs: BlobStore; states: StateStore },
  { repository, commit }: IndexedCommit,
  askIsTip: () => Promise<boolean>,
): Promise<void> {
  if (repository.ownerId === undefined) return
  const header = await readHeader(blobs, repository, commit)
  if (header && (await askIsTip())) await createOwnerListings(states).keep({ repository, commit, header })
}

/** Whether the default branch is at the commit now; `false` when the host does not tell: the next visit of the branch lists the repository. */
export async function isTip(host: Pick<GitHost, 'tip'>, { repository, commit }: IndexedCommit): Promise<boolean> {
  const tip = await host.tip(repository)
  return tip.status === 'ok' && tip.value === commit
}
