import { hash } from 'node:crypto'
import type { RepositoryReader } from '#core/ports/git-host.ts'
import { DamagedBytes } from '#core/snapshot/damage.ts'
import type { Location } from '#core/snapshot/format.ts'
import type { EarlierSnapshot } from './earlier-snapshot.ts'

/** The records of an earlier snapshot as a source of blobs. */
export interface EarlierRecords {
  has(oid: string): boolean
  /** The bytes of a blob, checked against its id; `null` when its pack is gone or damaged. */
  read(oid: string): Promise<Uint8Array | null>
  /** Whether the record of a blob can be referred to without being unpacked: the pack around it is whole, and it ends with this CRC-32. */
  hold(oid: string, crc32: number): Promise<boolean>
  /** From here on `has` returns `false`. */
  giveUp(): void
  /** The location of a record that `read` returned or `hold` found; else `null`. */
  verified(oid: string): Location | null
}

export function createEarlierRecords(earlier: EarlierSnapshot | null): EarlierRecords {
  const verified = new Map<string, Location>()
  let source = earlier
  return {
    has: oid => source?.blobs.get(oid)?.record != null,
    async read(oid) {
      const { sizeBytes = 0, record = null } = source?.blobs.get(oid) ?? {}
      const bytes = record && (await source?.member(record, sizeBytes))
      if (!record || !bytes) return null
      if (blobIdOf(bytes) !== oid) {
        source?.lost(new DamagedBytes(`the record of the blob ${oid} has other bytes`))
        return null
      }
      verified.set(oid, record)
      return bytes
    },
    async hold(oid, crc32) {
      const record = source?.blobs.get(oid)?.record ?? null
      if (source === null || record === null) return false
      const isHeld = await source.holds(record, crc32)
      if (isHeld) verified.set(oid, record)
      return isHeld
    },
    giveUp() {
      source = null
    },
    verified: oid => verified.get(oid) ?? null,
  }
}

/** Reads blobs in the order of `oids`: from the records where they have them, else from the host. Answers as `RepositoryReader.read` does. */
export async function* readBlobs(
  records: EarlierRecords,
  host: Pick<RepositoryReader, 'read'>,
  oids: readonly string[],
  maxBytes: number,
): AsyncGenerator<Blob> {
  // Decided once: a concurrent read may give the records up meanwhile.
  const held = new Set(oids.filter(records.has))
  const unheld = oids.filter(oid => !held.has(oid))
  const fetched = host.read(unheld, maxBytes)[Symbol.asyncIterator]()
  try {
    for (const [index, oid] of oids.entries()) {
      if (!held.has(oid)) {
        yield (await fetched.next()).value as Blob
        continue
      }
      const bytes = await records.read(oid)
      if (bytes === null) {
        // The store lost or damaged a pack: the host answers from here on.
        records.giveUp()
        yield* host.read(oids.slice(index), maxBytes)
        return
      }
      yield { oid, bytes: bytes.length > maxBytes ? null : bytes }
    }
    // To its end, so that the next reading goes on with the same process of git.
    if (unheld.length > 0) await fetched.next()
  } finally {
    await fetched.return?.()
  }
}

type Blob = { oid: string; bytes: Uint8Array | null }

/** The id that git gives a blob. */
function blobIdOf(bytes: Uint8Array): string {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), 'hex')
}
