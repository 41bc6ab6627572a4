import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { entriesAtMost } from '#core/memory.ts'
import type { OwnerListing, OwnerListings } from '#core/owner-listings.ts'
import type { Clock } from '#core/ports/system.ts'
import type { Deps } from '../deps.ts'
import type { OpenMount } from '../mount/open-mount.ts'

const KEPT_REPOSITORIES = 10_000
const KEPT_MS = 300_000
/** How long listings are cached. A visitor may be waiting for a repository that an indexer just listed. */
const READ_MS = 5_000
/** Characters of all cached listings, as JSON. */
const READ_CHARACTERS = 16 * 1024 * 1024

interface Remembered {
  listings: OwnerListing[]
  /** In milliseconds since 1970. */
  readAt: number
}

/**
 * Caches listings in memory: repeated writes are skipped for a while, reads are cached and shared by concurrent callers.
 * A change by this process is visible at once.
 */
export function rememberListings(listings: OwnerListings, clock: Clock): OwnerListings {
  const kept = new LRUCache<string, string>({ ...entriesAtMost(KEPT_REPOSITORIES), ttl: KEPT_MS })
  const remembered = new LRUCache<string, Remembered>({ maxSize: READ_CHARACTERS })
  const reads = createSingleFlight<OwnerListing[]>()

  function read(ownerId: string): Promise<OwnerListing[]> {
    return reads.run(ownerId, async isForgotten => {
      const readAt = clock.now().getTime()
      const found = await listings.of(ownerId)
      // A change during the read may be missing from the result: these callers get it, the cache does not.
      if (!isForgotten()) remembered.set(ownerId, { listings: found, readAt }, { size: JSON.stringify(found).length })
      return found
    })
  }

  function forget(ownerId: string): void {
    remembered.delete(ownerId)
    reads.forget(ownerId)
  }

  const forgetting =
    <Rest extends unknown[]>(change: (ownerId: string, listing: OwnerListing, ...rest: Rest) => Promise<void>) =>
    async (ownerId: string, listing: OwnerListing, ...rest: Rest) => {
      kept.delete(listing.repositoryId)
      await change(ownerId, listing, ...rest).finally(() => forget(ownerId))
    }

  return {
    async keep(indexed) {
      const { id, ownerId, owner, name } = indexed.repository
      const version = `${ownerId} ${owner}/${name} ${indexed.commit}`
      if (kept.get(id) === version) return
      await listings.keep(indexed)
      kept.set(id, version)
      if (ownerId !== undefined) forget(ownerId)
    },

    async of(ownerId) {
      const known = remembered.get(ownerId)
      if (known && isWithin(clock.now().getTime() - known.readAt, READ_MS)) return known.listings
      return await read(ownerId)
    },

    all: max => listings.all(max),
    hide: forgetting(listings.hide),
    show: forgetting(listings.show),
    drop: forgetting(listings.drop),
  }
}

function isWithin(milliseconds: number, limit: number): boolean {
  return milliseconds >= 0 && milliseconds < limit
}

/**
 * Lists a repository under its owner when its default branch is visited and indexed. The job that indexed the commit may have run under
 * another branch, or before the repository was transferred.
 */
export async function listOnVisit(
  { listings, fallbacks }: Pick<Deps, 'listings' | 'fallbacks'>,
  mount: OpenMount,
): Promise<void> {
  if (mount.status !== 'ready' || !mount.isDefault) return
  try {
    await listings.keep({ repository: mount.repository, commit: mount.commit, header: mount.snapshot.header })
  } catch (error) {
    // The visit itself succeeded; the next one tries again.
    fallbacks?.note('owner_listing', error)
  }
}
