import { LRUCache } from 'lru-cache'
import type { OwnerListings } from '#core/owner-listings.ts'
import type { Deps } from '../deps.ts'
import type { OpenMount } from '../mount/open-mount.ts'

const KEPT_REPOSITORIES = 10_000
const KEPT_MS = 300_000

/** Listings that are not kept again for a while after they were. */
export function rememberListings(listings: OwnerListings): OwnerListings {
  const kept = new LRUCache<string, string>({ max: KEPT_REPOSITORIES, ttl: KEPT_MS })
  return {
    async keep(indexed) {
      const { id, ownerId, owner, name } = indexed.repository
      const version = `${ownerId} ${owner}/${name} ${indexed.commit}`
      if (kept.get(id) === version) return
      await listings.keep(indexed)
      kept.set(id, version)
    },
    of: ownerId => listings.of(ownerId),
  }
}

/**
 * Lists a repository whose default branch is found to be indexed: its commit may have been indexed under another name, or before the
 * repository came to its owner.
 */
export async function keepListed({ listings }: Pick<Deps, 'listings'>, mount: OpenMount): Promise<void> {
  if (mount.status !== 'ready' || !mount.isDefault) return
  try {
    await listings.keep({ repository: mount.repository, commit: mount.commit, header: mount.snapshot.header })
  } catch {
    // The visitor asked for the mount, which is at hand; the next one tries again.
  }
}
