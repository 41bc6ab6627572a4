import { createOwnerListings } from '#core/owner-listings.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { readHeader } from '../snapshot/read-header.ts'

/**
 * Lists the repository on the page of its owner as it is indexed now, when the job was of its default branch.
 *
 * @throws Error when a store fails; what is listed later, at a visit, is the same
 */
export async function keepListed(
  { blobs, states }: { blobs: BlobStore; states: StateStore },
  { repository, commit, isDefault }: IndexJob,
): Promise<void> {
  if (!isDefault || repository.ownerId === undefined) return
  const header = await readHeader(blobs, repository, commit)
  if (header) await createOwnerListings(states).keep({ repository, commit, header })
}
