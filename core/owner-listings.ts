import { z } from 'zod'
import { CommitSha } from './commit-sha.ts'
import { mapFew } from './concurrency/map-few.ts'
import { Counts, License, ManifestMetadata } from './contract/shared.ts'
import { CARD_SKILL_NAMES, OWNER_LISTINGS } from './limits.ts'
import { type Fallbacks, NO_FALLBACKS } from './ports/fallbacks.ts'
import type { HostRepository } from './ports/git-host.ts'
import type { JsonValue, StateStore } from './ports/state-store.ts'
import { canonicalJson } from './snapshot/canonical-json.ts'
import { FolderRow, type SnapshotHeader } from './snapshot/format.ts'
import { isListingOfOurs, OWNERS_PREFIX, ownerListingKey, ownerPrefix } from './snapshot/store-keys.ts'

/** An indexed repository with skills on its default branch, as a card of an owner page shows it without opening the snapshot. */
export const OwnerListing = z.object({
  repositoryId: z.string(),
  /** The login of the account when indexed; absent in entries of earlier versions of this program. */
  owner: z.string().exactOptional(),
  /** The name when indexed; the host redirects old names. */
  name: z.string(),
  commit: CommitSha,
  manifest: ManifestMetadata.optional(),
  image: FolderRow.shape.image,
  license: License,
  counts: Counts,
  skillNames: z.array(z.string()),
  /** Since when the host no longer shows the repository; absent while it shows it. */
  hiddenSince: z.iso.datetime().exactOptional(),
})
export type OwnerListing = z.infer<typeof OwnerListing>

/** An indexed commit of the default branch. */
export interface IndexedDefault {
  repository: HostRepository
  commit: CommitSha
  header: Pick<SnapshotHeader, 'root'>
}

/** What a listing says of a repository: enough for the keys of its snapshot. */
export interface IndexedListing {
  repository: HostRepository
  commit: CommitSha
}

/** The indexed repositories of every account: one entry of the state store each, derived from the snapshot. */
export interface OwnerListings {
  /** Lists the repository, or removes it from the list when it has no skills or is private. */
  keep(indexed: IndexedDefault): Promise<void>
  /** The listings of an account, hidden ones among them, unordered. Skips entries of another version. */
  of(ownerId: string): Promise<OwnerListing[]>
  /** The repositories of all accounts that their hosts show. @param max bounds the entries that are read */
  all(max: number): Promise<{ listings: IndexedListing[]; isComplete: boolean }>
  /** Marks the repository as not shown by the host. */
  hide(ownerId: string, listing: OwnerListing, since: Date): Promise<void>
  /** Marks the repository as shown again. */
  show(ownerId: string, listing: OwnerListing): Promise<void>
  /** Removes the repository from the list. */
  drop(ownerId: string, listing: OwnerListing): Promise<void>
}

const READS_AT_ONCE = 16

/** @param fallbacks is told of entries that cannot be understood; they are left out */
export function createOwnerListings(states: StateStore, fallbacks: Fallbacks = NO_FALLBACKS): OwnerListings {
  async function read(key: string): Promise<OwnerListing | undefined> {
    const stored = await states.read(key)
    if (stored === null) return undefined
    const parsed = OwnerListing.safeParse(stored.value)
    if (!parsed.success) fallbacks.note('owner_listing', parsed.error)
    return parsed.data
  }

  /** Changes an entry, unless it changed since it was read: the other writer knows more. */
  async function change(ownerId: string, listing: OwnerListing, next: OwnerListing | null): Promise<void> {
    const key = ownerListingKey(ownerId, listing.repositoryId)
    const stored = await states.read(key)
    if (stored === null || canonicalJson(stored.value) !== canonicalJson(listing)) return
    await (next === null ? states.remove(key) : states.replace(key, next as JsonValue, stored.etag))
  }

  return {
    async keep(indexed) {
      const { id, ownerId } = indexed.repository
      if (ownerId === undefined) return
      const key = ownerListingKey(ownerId, id)
      const listing = describe(indexed)
      const stored = await states.read(key)
      // Checked first: an indexer of a repository that was never listed may lack the permission to remove objects.
      if (listing === null) return stored === null ? undefined : states.remove(key)
      // Writers have asked the host just now, or read an answer that is at most ten minutes old, so the last one may win.
      if (stored === null) await states.create(key, listing as JsonValue)
      else if (canonicalJson(stored.value) !== canonicalJson(listing))
        await states.replace(key, listing as JsonValue, stored.etag)
    },

    async of(ownerId) {
      const keys = await states.list(ownerPrefix(ownerId), { limit: OWNER_LISTINGS })
      const entries = await mapFew(keys, read, READS_AT_ONCE)
      return entries.filter(entry => entry !== undefined)
    },

    async all(max) {
      const keys = await states.list(OWNERS_PREFIX, { limit: max + 1 })
      const current = keys.slice(0, max).filter(isListingOfOurs)
      const entries = await mapFew(current, read, READS_AT_ONCE)
      const listings = entries.flatMap(entry =>
        entry?.owner === undefined || entry.hiddenSince ? [] : [listedOf(entry, entry.owner)],
      )
      return { listings, isComplete: keys.length <= max }
    },

    hide: (ownerId, listing, since) => change(ownerId, listing, { ...listing, hiddenSince: since.toISOString() }),

    async show(ownerId, listing) {
      const { hiddenSince: _, ...shown } = listing
      await change(ownerId, listing, shown)
    },

    drop: (ownerId, listing) => change(ownerId, listing, null),
  }
}

/** Only hosts with accounts have listings, and only of public repositories. */
function listedOf({ repositoryId, name, commit }: OwnerListing, owner: string): IndexedListing {
  const unknown = { description: null, avatar: null, defaultBranch: '' }
  return { repository: { id: repositoryId, host: 'gh', owner, name, visibility: 'public', ...unknown }, commit }
}

/** `null` when the repository has no skills or is private. */
function describe({ repository, commit, header }: IndexedDefault): OwnerListing | null {
  const { folder, manifest, skills } = header.root
  if (repository.visibility !== 'public' || folder.counts.skills === 0) return null
  return {
    repositoryId: repository.id,
    owner: repository.owner,
    name: repository.name,
    commit,
    ...(manifest && { manifest }),
    ...(folder.image && { image: folder.image }),
    license: folder.license,
    counts: folder.counts,
    skillNames: skills.slice(0, CARD_SKILL_NAMES).map(({ name }) => name),
  }
}
