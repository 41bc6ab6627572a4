import { promisify } from 'node:util'
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib'

const gzipOnThread = promisify(gzip)
const gunzipOnThread = promisify(gunzip)
const GZIP = { level: 6 }
/** Handing a smaller member to the thread pool costs more than the work itself. */
const THREAD_BYTES = 32 * 1024

export async function gzipMember(bytes: Uint8Array): Promise<Uint8Array> {
  const member = bytes.length < THREAD_BYTES ? gzipSync(bytes, GZIP) : await gzipOnThread(bytes, GZIP)
  // A short one is a view of a larger buffer: the copy frees that buffer.
  return member.length === member.buffer.byteLength ? member : Uint8Array.from(member)
}

/**
 * The bytes of a member, which may share a larger buffer. `maxBytes`: as a rule their exact length, so that one buffer holds them.
 *
 * @throws an error with a code of zlib, or `ERR_BUFFER_TOO_LARGE` when there are more than `maxBytes`
 */
export async function gunzipMember(member: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const limits = { maxOutputLength: maxBytes, chunkSize: Math.max(64, Math.min(maxBytes, THREAD_BYTES) + 1) }
  return member.length < THREAD_BYTES && maxBytes < INLINE_BYTES ? gunzipSync(member, limits) : gunzipOnThread(member, limits)
}

/** The CRC-32 of the bytes that a member holds, which stands at its end. */
export function crc32Of(member: Uint8Array): number {
  return Buffer.from(member.buffer, member.byteOffset, member.length).readUInt32LE(member.length - TRAILER_BYTES)
}

const TRAILER_BYTES = 8

/** A larger result is unpacked on a thread, whatever the length of the member. */
const INLINE_BYTES = 256 * 1024
