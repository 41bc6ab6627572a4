import { createOwnerListings } from '#core/owner-listings.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { readHeader } from '../snapshot/read-header.ts'

/**
 * Lists the repository on the page of its owner if the job indexed its default branch.
 *
 * @throws Error when a store fails; the next visit of the default branch lists it
 */
export async function listIndexed(
  { blobs, states }: { blobs: BlobStore; states: StateStore },
  { repository, commit, isDefault }: IndexJob,
): Promise<void> {
  if (!isDefault || repository.ownerId === undefined) return
  const header = await readHeader(blobs, repository, commit)
  if (header) await createOwnerListings(states).keep({ repository, commit, header })
}
