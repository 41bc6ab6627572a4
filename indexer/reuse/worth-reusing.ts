import { PACK_BYTES } from '#core/limits.ts'
import type { SnapshotHeader } from '#core/snapshot/format.ts'
import { sizeOfSegments } from '#core/snapshot/segments.ts'
import type { EarlierSnapshot } from './earlier-snapshot.ts'

/** A header that would list more packs than this refers to none of an earlier commit. */
const PACKS = 64

/**
 * Whether the next snapshot may refer to the packs of this one: by an estimate, which leaves out added files, it then lists at most `PACKS`
 * packs and uses at least half of their bytes. Otherwise everything is stored anew.
 *
 * The tree tells which records remain. The search section is expected to change, since an added file renumbers all later items, and so is
 * half of the tables; both are added to the bytes in use.
 */
export function isWorthReusing(
  { header, blobs }: Pick<EarlierSnapshot, 'header' | 'blobs'>,
  isInTree: (oid: string) => boolean,
): boolean {
  const { packs, usedBytes, search } = header
  const tableBytes = sizeOfTables(header)
  const sectionBytes = sizeOfSegments(search?.segments ?? [])
  const recordBytes = Math.min(recordBytesInTree(blobs, isInTree), usedBytes - tableBytes - sectionBytes)

  const packedBytes = packs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const nextBytes = recordBytes + tableBytes + sectionBytes
  const freshPacks = Math.ceil(nextBytes / PACK_BYTES) + 1
  return packs.length + freshPacks <= PACKS && packedBytes + sectionBytes + tableBytes / 2 <= 2 * nextBytes
}

function sizeOfTables({ tables }: SnapshotHeader): number {
  return sizeOfSegments(Object.values(tables).flatMap(({ shards }) => shards.map(([, , location]) => location)))
}

function recordBytesInTree(blobs: EarlierSnapshot['blobs'], isInTree: (oid: string) => boolean): number {
  let bytes = 0
  for (const [oid, { record }] of blobs) if (record && isInTree(oid)) bytes += record[2]
  return bytes
}
