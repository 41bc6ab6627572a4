import { z } from 'zod'

/** Stored bytes are missing, or are not the bytes that were written. */
export class DamagedBytes extends Error {}

/** Stored bytes do not have their format. */
export class FormatError extends RangeError {}

/** @throws FormatError when the stored text is not JSON */
export function parseStoredJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new FormatError('stored bytes are not JSON', { cause })
  }
}

/**
 * Whether stored bytes caused the error: they are missing, or gzip, a checksum, a schema or the format refuses them. Any other error of code
 * that reads them is a fault of that code, which no rebuild mends.
 *
 * @param error with its causes
 */
export function isDamage(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (isOfBytes(one)) return true
  return false
}

function isOfBytes(error: Error): boolean {
  if (error instanceof DamagedBytes || error instanceof FormatError || error instanceof z.core.$ZodError) return true
  const code = 'code' in error ? String(error.code) : ''
  return DECODING_CODES.has(code) || (code.startsWith('Z_') && code !== 'Z_MEM_ERROR')
}

/** Of the text decoder, and of zlib when the bytes unpack to more than the limit. */
const DECODING_CODES: ReadonlySet<string> = new Set(['ERR_ENCODING_INVALID_ENCODED_DATA', 'ERR_BUFFER_TOO_LARGE'])
