import type { DamageReport } from '#core/damage-reports.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/keys.ts'
import { packNameOf } from './earlier-snapshot.ts'
import { readHeader } from './read-header.ts'

/**
 * Takes away what is damaged of a snapshot, so that it can be built again: packs that are not what their names say, and then the header.
 * Whoever dies between leaves a header that refers to what is not there, which is found and reported like any other damage.
 * Other commits that refer to the same packs are found likewise, each when somebody reads it.
 *
 * @returns false when nothing is damaged and nobody said so before
 */
export async function removeDamaged(
  blobs: BlobStore,
  repository: HostRepository,
  commit: CommitSha,
  report: DamageReport,
): Promise<boolean> {
  const header = await readHeader(blobs, repository, commit).catch(() => null)
  let isDamaged = header === null
  for (const { name, sizeBytes } of header?.packs ?? []) {
    const stored = await blobs.read(packKey(repository, name))
    if (stored?.bytes.length === sizeBytes && packNameOf(stored.bytes) === name) continue
    isDamaged = true
    await blobs.remove(packKey(repository, name))
  }
  // Packs that are whole, and a reader who says again that they are not: it is the header that is wrong about them.
  if (!isDamaged && report.repairs === 0) return false
  await blobs.remove(headerKey(repository, commit))
  return true
}
