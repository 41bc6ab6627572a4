import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { constants, deflateRawSync, deflateSync } from 'node:zlib'

/*
 * Objects of git, written into its folder byte by byte: also those that git itself would not write.
 */

export function text(value: string): Uint8Array {
  return Buffer.from(value)
}

export function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : content
}

/** Any type and any body, valid or not. @returns its id */
export async function storeObject(gitDir: string, type: string, body: string | Uint8Array): Promise<string> {
  const bytes = bytesOf(body)
  const stored = Buffer.concat([text(`${type} ${bytes.length}\0`), bytes])
  const oid = createHash('sha1').update(stored).digest('hex')
  await storeLoose(gitDir, oid, deflateSync(stored, { level: 1 }))
  return oid
}

export function loosePath(gitDir: string, oid: string): string {
  return join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2))
}

async function storeLoose(gitDir: string, oid: string, stored: Uint8Array): Promise<void> {
  const path = loosePath(gitDir, oid)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, stored)
}

const CHUNK_BYTES = 1024 * 1024

/** A blob of zeros, in little memory and disk. @returns its id */
export async function storeZeroBlob(gitDir: string, sizeBytes: number): Promise<string> {
  const header = text(`blob ${sizeBytes}\0`)
  const hash = createHash('sha1').update(header)
  const chunk = new Uint8Array(CHUNK_BYTES)
  for (let left = sizeBytes; left > 0; left -= CHUNK_BYTES) hash.update(chunk.subarray(0, Math.min(left, CHUNK_BYTES)))
  const oid = hash.digest('hex')
  await storeLoose(gitDir, oid, deflateWithZeros(header, sizeBytes))
  return oid
}

/** A zlib stream of a header and then zeros: one compressed chunk, repeated. */
function deflateWithZeros(header: Uint8Array, zeros: number): Uint8Array {
  const flushed = (bytes: Uint8Array) => deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH })
  const chunk = flushed(new Uint8Array(CHUNK_BYTES))
  const chunks = new Array<Uint8Array>(Math.floor(zeros / CHUNK_BYTES)).fill(chunk)
  const rest = deflateRawSync(new Uint8Array(zeros % CHUNK_BYTES))
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(adler32(header, zeros))
  return Buffer.concat([Buffer.from([0x78, 0x01]), flushed(header), ...chunks, rest, checksum])
}

function adler32(header: Uint8Array, zeros: number): number {
  const modulus = 65_521
  let low = 1
  let high = 0
  for (const byte of header) {
    low = (low + byte) % modulus
    high = (high + low) % modulus
  }
  return ((high + low * (zeros % modulus)) % modulus) * 65_536 + low
}

/** A blob of a hundred zeros, packed as a change of a huge one. @returns its id */
export async function storeChangeOfZeroBlob(gitDir: string, baseSizeBytes: number): Promise<string> {
  const zeros = new Uint8Array(100)
  const oid = createHash('sha1').update(`blob ${zeros.length}\0`).update(zeros).digest('hex')
  await storePackedChange(gitDir, oid, zeros.length, baseSizeBytes)
  return oid
}

const BLOB = 3
const OFFSET_DELTA = 6

/** A pack of two objects, with its index: zeros under an id that nobody asks for, and their beginning as a change of them. */
async function storePackedChange(gitDir: string, oid: string, sizeBytes: number, baseSizeBytes: number): Promise<void> {
  const base = Buffer.concat([packedHeader(BLOB, baseSizeBytes), deflateWithZeros(new Uint8Array(), baseSizeBytes)])
  const copy = Buffer.from([0x90, sizeBytes]) // so many bytes from offset 0
  const change = Buffer.concat([baseSevenBits(baseSizeBytes), baseSevenBits(sizeBytes), copy])
  const objects = [base, Buffer.concat([packedHeader(OFFSET_DELTA, change.length), backwards(base.length), deflateSync(change)])]
  const pack = withChecksum([text('PACK'), uint32(2), uint32(objects.length), ...objects])

  const entries = [
    { oid: 'f'.repeat(40), offset: 12 },
    { oid, offset: 12 + base.length },
  ].sort((left, right) => (left.oid < right.oid ? -1 : 1))
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
  await writeFile(join(gitDir, 'objects/pack/pack-change.pack'), pack)
  await writeFile(join(gitDir, 'objects/pack/pack-change.idx'), index)
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

function packedHeader(type: number, sizeBytes: number): Buffer {
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
