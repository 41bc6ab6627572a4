import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { isDamage } from '#core/snapshot/damage.ts'
import type { PackEntry, SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { packNameOf } from './pack-series.ts'
import { parseHeader } from './read-header.ts'

/**
 * Whether the header of a snapshot is unreadable, or a pack does not match its name. A damaged object is read again: the bytes may have been
 * damaged on the way.
 *
 * @throws an error of the store or a fault of this program: then the answer is unknown
 */
export async function isDamaged(blobs: BlobStore, repository: HostRepository, commit: CommitSha): Promise<boolean> {
  const readHeader = () => readIntactHeader(blobs, headerKey(repository, commit))
  const header = (await readHeader()) ?? (await readHeader())
  if (header === null) return true
  for (const pack of header.packs) {
    const isIntact = () => isIntactPack(blobs, packKey(repository, pack.name), pack)
    if (!(await isIntact()) && !(await isIntact())) return true
  }
  return false
}

async function readIntactHeader(blobs: BlobStore, key: string): Promise<SnapshotHeader | null> {
  const stored = await blobs.read(key)
  try {
    return stored && parseHeader(stored.bytes)
  } catch (error) {
    if (!isDamage(error)) throw error
    return null
  }
}

async function isIntactPack(blobs: BlobStore, key: string, { name, sizeBytes }: PackEntry): Promise<boolean> {
  const stored = await blobs.read(key)
  return stored?.bytes.length === sizeBytes && packNameOf(stored.bytes) === name
}

/**
 * Wraps a store for rebuilding a damaged snapshot: `create` replaces an object that has other bytes. Every object is removed only when its
 * replacement is at hand, the header last. A crash between removal and creation leaves an object missing. Readers report a missing pack as
 * damage; without its header the snapshot counts as not indexed. Both lead to a new job.
 */
export function replacingDamaged(blobs: BlobStore): Pick<BlobStore, 'create'> {
  const differs = async (key: string, bytes: Uint8Array) => {
    const stored = await blobs.read(key)
    return stored === null || !Buffer.from(stored.bytes).equals(bytes)
  }
  return {
    async create(key, bytes) {
      if ((await blobs.create(key, bytes)) === 'created') return 'created'
      if (!(await differs(key, bytes)) || !(await differs(key, bytes))) return 'exists'
      await blobs.remove(key)
      return blobs.create(key, bytes)
    },
  }
}
