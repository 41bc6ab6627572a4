import { gunzipSync } from 'node:zlib'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { parseStoredJson } from '#core/snapshot/damage.ts'
import { HEADER_BYTES, SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey } from '#core/snapshot/store-keys.ts'

/** The header of a snapshot; `null` when the commit is not indexed. @throws Error when the bytes are not a header */
export async function readHeader(
  blobs: BlobStore,
  repository: HostRepository,
  commit: CommitSha,
): Promise<SnapshotHeader | null> {
  const object = await blobs.read(headerKey(repository, commit))
  return object && parseHeader(object.bytes)
}

/** @throws Error when the bytes are not a header */
export function parseHeader(bytes: Uint8Array): SnapshotHeader {
  const json = gunzipSync(bytes, { maxOutputLength: HEADER_BYTES })
  return SnapshotHeader.parse(parseStoredJson(json.toString('utf8')))
}
