import { gunzipSync } from 'node:zlib'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { type CommitSha, HEADER_BYTES, SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey } from '#core/snapshot/keys.ts'

/** The header of a snapshot; `null` when the commit is not indexed. @throws Error when its bytes are no header */
export async function readHeader(
  blobs: BlobStore,
  repository: HostRepository,
  commit: CommitSha,
): Promise<SnapshotHeader | null> {
  const object = await blobs.read(headerKey(repository, commit))
  if (object === null) return null
  const json = gunzipSync(object.bytes, { maxOutputLength: HEADER_BYTES })
  return SnapshotHeader.parse(JSON.parse(json.toString('utf8')))
}
