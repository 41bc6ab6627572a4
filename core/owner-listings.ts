import { z } from 'zod'
import { CommitSha } from './commit-sha.ts'
import { Counts, License, ManifestMetadata } from './contract/shared.ts'
import { CARD_SKILL_NAMES, OWNER_LISTINGS } from './limits.ts'
import type { HostRepository } from './ports/git-host.ts'
import type { JsonValue, StateStore } from './ports/state-store.ts'
import { canonicalJson } from './snapshot/canonical-json.ts'
import { FolderRow, type SnapshotHeader } from './snapshot/format.ts'
import { ownerListingKey, ownerPrefix } from './snapshot/store-keys.ts'

/** A repository whose default branch is indexed and has skills, as an owner page needs it: nobody opens its snapshot for a card. */
export const OwnerListing = z.object({
  repositoryId: z.string(),
  /** As it was called when it was indexed: the host leads from there to its name of now. */
  name: z.string(),
  commit: CommitSha,
  manifest: ManifestMetadata.optional(),
  image: FolderRow.shape.image,
  license: License,
  counts: Counts,
  skillNames: z.array(z.string()),
  /** Since when the host does not show it; absent while it does. */
  hiddenSince: z.iso.datetime().exactOptional(),
})
export type OwnerListing = z.infer<typeof OwnerListing>

/** The commit that is the default branch's, as it was indexed. */
export interface IndexedDefault {
  repository: HostRepository
  commit: CommitSha
  header: Pick<SnapshotHeader, 'root'>
}

/** The indexed repositories of every account: a small document each, beside the snapshots and made of them. */
export interface OwnerListings {
  /** Lists the repository as it is indexed now, or takes it off when it has no skills or is not for everyone. */
  keep(indexed: IndexedDefault): Promise<void>
  /** Of an account, in no order that tells anything, hidden ones among them. A document of another version counts as none. */
  of(ownerId: string): Promise<OwnerListing[]>
  /** The host does not show it any more. It may come back. */
  hide(ownerId: string, listing: OwnerListing, since: Date): Promise<void>
  /** The host shows it again. */
  show(ownerId: string, listing: OwnerListing): Promise<void>
  /** Takes it off. */
  drop(ownerId: string, listing: OwnerListing): Promise<void>
}

/** Documents that are read at once. */
const READS = 16

export function createOwnerListings(states: StateStore): OwnerListings {
  /** Changes a document unless somebody else has since it was read: then that tells more. */
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
      // Who indexes a repository that was never listed need not be allowed to remove anything.
      if (listing === null) return stored === null ? undefined : states.remove(key)
      // Whoever writes at the same time has read the same host just now, so it does not matter who comes last.
      if (stored === null) await states.create(key, listing as JsonValue)
      else if (canonicalJson(stored.value) !== canonicalJson(listing))
        await states.replace(key, listing as JsonValue, stored.etag)
    },

    async of(ownerId) {
      const listings: OwnerListing[] = []
      const keys = (await states.list(ownerPrefix(ownerId), { limit: OWNER_LISTINGS })).values()
      const readRest = async () => {
        for (const key of keys) {
          const listing = OwnerListing.safeParse((await states.read(key))?.value).data
          if (listing) listings.push(listing)
        }
      }
      await Promise.all(Array.from({ length: READS }, readRest))
      return listings
    },

    hide: (ownerId, listing, since) => change(ownerId, listing, { ...listing, hiddenSince: since.toISOString() }),

    async show(ownerId, listing) {
      const { hiddenSince: _, ...shown } = listing
      await change(ownerId, listing, shown)
    },

    drop: (ownerId, listing) => change(ownerId, listing, null),
  }
}

function describe({ repository, commit, header }: IndexedDefault): OwnerListing | null {
  const { folder, manifest, skills } = header.root
  if (repository.visibility !== 'public' || folder.counts.skills === 0) return null
  return {
    repositoryId: repository.id,
    name: repository.name,
    commit,
    ...(manifest && { manifest }),
    ...(folder.image && { image: folder.image }),
    license: folder.license,
    counts: folder.counts,
    skillNames: skills.slice(0, CARD_SKILL_NAMES).map(({ name }) => name),
  }
}
