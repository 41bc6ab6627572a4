import { promisify } from 'node:util'
import { gunzip, gunzipSync } from 'node:zlib'
import type { HostRepository } from '#core/ports/git-host.ts'
import { DamagedBytes } from '#core/snapshot/damage.ts'
import type { Location, SnapshotHeader } from '#core/snapshot/format.ts'
import { packKey } from '#core/snapshot/store-keys.ts'
import type { PackReader } from './pack-reader.ts'
import { orUnavailable } from './unavailable.ts'

/** Reads the packs of one snapshot. */
export interface MemberReader {
  /** The stored bytes: a view, valid until the caller yields. */
  stored(location: Location): Promise<Uint8Array>
  /**
   * The unpacked bytes of a gzip member.
   *
   * @throws ServiceError `skill.unavailable` when it is missing or damaged
   */
  member(location: Location): Promise<Uint8Array>
  /** A cache key for a value derived from a member. Packs are immutable, so snapshots that share a pack share the value. */
  keyOf(kind: string, location: Location): string
}

/** A reader of the packs that a header lists. */
export function createMemberReader(packs: PackReader, repository: HostRepository, header: SnapshotHeader): MemberReader {
  async function stored([packIndex, offset, length]: Location): Promise<Uint8Array> {
    const pack = header.packs[packIndex]
    if (!pack || offset + length > pack.sizeBytes)
      throw new DamagedBytes(`bytes ${offset} to ${offset + length} lie outside pack ${packIndex}`)
    return await packs.read(packKey(repository, pack.name), offset, length)
  }

  return {
    stored,
    member(location) {
      const [packIndex, offset, length] = location
      return orUnavailable(`member ${packIndex}:${offset}+${length} of ${repository.id} at ${header.commit}`, async () => {
        return await unpackMember(await stored(location))
      })
    },
    keyOf: (kind, [packIndex, offset]) => `${kind} ${packKey(repository, header.packs[packIndex]?.name ?? '')} ${offset}`,
  }
}

/** The largest size of an unpacked member. */
const MEMBER_BYTES = 32 * 1024 * 1024
/** Up to this size, unpacking takes less time than passing the member to another thread. */
const SYNC_BYTES = 64 * 1024

const unpack = promisify(gunzip)

async function unpackMember(packed: Uint8Array): Promise<Uint8Array> {
  return unpackedBytes(packed) > SYNC_BYTES
    ? await unpack(packed, { maxOutputLength: MEMBER_BYTES })
    : gunzipSync(packed, { maxOutputLength: SYNC_BYTES })
}

/** The unpacked size, from the trailer of the gzip member. */
function unpackedBytes(packed: Uint8Array): number {
  const { buffer, byteOffset, length } = packed
  return length < 4 ? 0 : new DataView(buffer, byteOffset).getUint32(length - 4, true)
}
