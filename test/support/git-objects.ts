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
  // What is there already may be read just now.
  await writeFile(path, stored, { flag: 'wx' }).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
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
export function deflateWithZeros(header: Uint8Array, zeros: number): Uint8Array {
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
