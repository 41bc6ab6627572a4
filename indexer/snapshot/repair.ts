import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { PackEntry, SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { packNameOf } from './pack-name.ts'
import { parseHeader } from './read-header.ts'

/**
 * Whether a snapshot is not what was written: its header cannot be read, or a pack is not what its name says. What comes damaged may lie whole,
 * so it is read once more.
 *
 * @throws whatever the store throws: then nobody knows
 */
export async function isDamaged(blobs: BlobStore, repository: HostRepository, commit: CommitSha): Promise<boolean> {
  const readHeader = () => readWholeHeader(blobs, headerKey(repository, commit))
  const header = (await readHeader()) ?? (await readHeader())
  if (header === null) return true
  for (const pack of header.packs) {
    const isWhole = () => isWholePack(blobs, packKey(repository, pack.name), pack)
    if (!(await isWhole()) && !(await isWhole())) return true
  }
  return false
}

async function readWholeHeader(blobs: BlobStore, key: string): Promise<SnapshotHeader | null> {
  const stored = await blobs.read(key)
  try {
    return stored && parseHeader(stored.bytes)
  } catch {
    return null
  }
}

async function isWholePack(blobs: BlobStore, key: string, { name, sizeBytes }: PackEntry): Promise<boolean> {
  const stored = await blobs.read(key)
  return stored?.bytes.length === sizeBytes && packNameOf(stored.bytes) === name
}

/**
 * Where a damaged snapshot is built again: what stands under a key, and is not what is to be written there, gives way to it. So nothing goes
 * before there is what takes its place, and the header goes last. Whoever dies between leaves an object that is gone, which is found
 * and reported like any other damage.
 */
export function writingOver(blobs: BlobStore): Pick<BlobStore, 'create'> {
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
