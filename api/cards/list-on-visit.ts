import { LRUCache } from 'lru-cache'
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

interface Reading {
  listings: Promise<OwnerListing[]>
  /** A change came after the read began: its waiting callers get the result, which is not cached. */
  isOvertaken: boolean
}

/**
 * Caches listings in memory: repeated writes are skipped for a while, reads are cached and shared by concurrent callers.
 * A change by this process is visible at once.
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
 * Lists a repository under its owner when its default branch is visited and indexed. The job that indexed the commit may have run under
 * another branch, or before the repository was transferred.
 */
export async function listOnVisit({ listings }: Pick<Deps, 'listings'>, mount: OpenMount): Promise<void> {
  if (mount.status !== 'ready' || !mount.isDefault) return
  try {
    await listings.keep({ repository: mount.repository, commit: mount.commit, header: mount.snapshot.header })
  } catch {
    // The visit itself succeeded; the next one tries again.
  }
}
