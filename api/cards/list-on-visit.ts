import { LRUCache } from 'lru-cache'
import type { OwnerListing, OwnerListings } from '#core/owner-listings.ts'
import type { Clock } from '#core/ports/system.ts'
import type { Deps } from '../deps.ts'
import type { OpenMount } from '../mount/open-mount.ts'

const KEPT_REPOSITORIES = 10_000
const KEPT_MS = 300_000
/** What an indexer lists is seen so much later: somebody may be waiting for it. */
const READ_MS = 5_000
/** Characters of all that is remembered, as JSON. */
const READ_CHARACTERS = 16 * 1024 * 1024

interface Remembered {
  listings: OwnerListing[]
  /** In milliseconds since 1970. */
  readAt: number
}

interface Reading {
  listings: Promise<OwnerListing[]>
  /** Something has changed since: who waits for it gets it, and nobody else does. */
  isOvertaken: boolean
}

/**
 * Listings that are not kept again for a while after they were, and not read again: of those who ask for the same account at once one reads.
 * What this process changes is seen at once.
 */
export function rememberListings(listings: OwnerListings, clock: Clock): OwnerListings {
  const kept = new LRUCache<string, string>({ max: KEPT_REPOSITORIES, ttl: KEPT_MS })
  const remembered = new LRUCache<string, Remembered>({ maxSize: READ_CHARACTERS })
  const reading = new Map<string, Reading>()

  function read(ownerId: string): Promise<OwnerListing[]> {
    const flight: Reading = { listings: listings.of(ownerId), isOvertaken: false }
    reading.set(ownerId, flight)
    return settle(ownerId, flight, clock.now().getTime())
  }

  async function settle(ownerId: string, flight: Reading, readAt: number): Promise<OwnerListing[]> {
    try {
      const found = await flight.listings
      if (!flight.isOvertaken) remembered.set(ownerId, { listings: found, readAt }, { size: JSON.stringify(found).length })
      return found
    } finally {
      if (reading.get(ownerId) === flight) reading.delete(ownerId)
    }
  }

  function forget(ownerId: string): void {
    remembered.delete(ownerId)
    const flight = reading.get(ownerId)
    if (flight) flight.isOvertaken = true
    reading.delete(ownerId)
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
      return await (reading.get(ownerId)?.listings ?? read(ownerId))
    },

    hide: forgetting(listings.hide),
    show: forgetting(listings.show),
    drop: forgetting(listings.drop),
  }
}

function isWithin(milliseconds: number, limit: number): boolean {
  return milliseconds >= 0 && milliseconds < limit
}

/**
 * Lists a repository whose default branch is found to be indexed: its commit may have been indexed under another name, or before the
 * repository came to its owner.
 */
export async function listOnVisit({ listings }: Pick<Deps, 'listings'>, mount: OpenMount): Promise<void> {
  if (mount.status !== 'ready' || !mount.isDefault) return
  try {
    await listings.keep({ repository: mount.repository, commit: mount.commit, header: mount.snapshot.header })
  } catch {
    // The visitor asked for the mount, which is at hand; the next one tries again.
  }
}
