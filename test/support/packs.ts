import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { deflateWithZeros, text } from './git-objects.ts'

/*
 * Packs with their indexes, written byte for byte.
 */

/** A blob of a hundred zeros, packed as a change of a huge one. @returns its id */
export async function storeChangeOfZeroBlob(gitDir: string, baseSizeBytes: number): Promise<string> {
  const zeros = new Uint8Array(100)
  const oid = createHash('sha1').update(`blob ${zeros.length}\0`).update(zeros).digest('hex')
  await storePackedChange(gitDir, oid, zeros.length, baseSizeBytes)
  return oid
}

export const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4 } as const
const OFFSET_DELTA = 6

/** A pack of two objects, with its index: zeros under an id that nobody asks for, and their beginning as a change of them. */
async function storePackedChange(gitDir: string, oid: string, sizeBytes: number, baseSizeBytes: number): Promise<void> {
  const base = Buffer.concat([packedHeader(TYPES.blob, baseSizeBytes), deflateWithZeros(new Uint8Array(), baseSizeBytes)])
  const copy = Buffer.from([0x90, sizeBytes]) // so many bytes from offset 0
  const change = Buffer.concat([baseSevenBits(baseSizeBytes), baseSevenBits(sizeBytes), copy])
  const delta = Buffer.concat([packedHeader(OFFSET_DELTA, change.length), backwards(base.length), deflateSync(change)])
  await storePack(gitDir, [
    { oid: 'f'.repeat(40), bytes: base },
    { oid, bytes: delta },
  ])
}

const PACK_HEADER_BYTES = 12

/** Writes the objects one behind the other, and the index. */
export async function storePack(gitDir: string, objects: readonly { oid: string; bytes: Uint8Array }[]): Promise<void> {
  const pack = withChecksum([text('PACK'), uint32(2), uint32(objects.length), ...objects.map(({ bytes }) => bytes)])
  let offset = PACK_HEADER_BYTES
  const entries = objects
    .map(({ oid, bytes }) => {
      offset += bytes.length
      return { oid, offset: offset - bytes.length }
    })
    .sort((left, right) => (left.oid < right.oid ? -1 : 1))
  const fanout = Array.from({ length: 256 }, (_, byte) =>
    uint32(entries.filter(entry => Number.parseInt(entry.oid.slice(0, 2), 16) <= byte).length),
  )
  const index = withChecksum([
    Buffer.from([0xff, 0x74, 0x4f, 0x63]),
    uint32(2),
    ...fanout,
    ...entries.map(entry => Buffer.from(entry.oid, 'hex')),
    ...entries.map(() => uint32(0)), // checksums that only repacking looks at
    ...entries.map(entry => uint32(entry.offset)),
    pack.subarray(-20),
  ])
  const path = join(gitDir, 'objects/pack', `pack-${pack.subarray(-20).toString('hex')}`)
  await writeFile(`${path}.pack`, pack)
  await writeFile(`${path}.idx`, index)
}

function withChecksum(parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Least significant bits first; all bytes but the last have the high bit set. */
function baseSevenBits(value: number): Buffer {
  return value < 128
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([(value % 128) + 128]), baseSevenBits(Math.floor(value / 128))])
}

export function packedHeader(type: number, sizeBytes: number): Buffer {
  const first = type * 16 + (sizeBytes % 16)
  return sizeBytes < 16
    ? Buffer.from([first])
    : Buffer.concat([Buffer.from([first + 128]), baseSevenBits(Math.floor(sizeBytes / 16))])
}

/** The distance back to the base of an offset delta. */
function backwards(distance: number): Buffer {
  const bytes = [distance % 128]
  for (let left = Math.floor(distance / 128); left > 0; left = Math.floor(left / 128)) {
    left--
    bytes.unshift((left % 128) + 128)
  }
  return Buffer.from(bytes)
}
