import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { parsePreferences, weightOf } from '#core/accept.ts'

export type Encoding = 'br' | 'gzip'

/** A smaller page gains nothing that its header does not take. */
const LEAST_BYTES = 1_024

/** Fast settings: a page is compressed for each request. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT } }
const GZIP = { level: 5 }

/** The encoding for a header `accept-encoding`; `null` sends the page as it is. */
export function chooseEncoding(accepted: string): Encoding | null {
  const preferences = parsePreferences(accepted)
  const weights = { br: weightOf(preferences, ['br']) ?? 0, gzip: weightOf(preferences, ['gzip']) ?? 0 }
  if (weights.br === 0 && weights.gzip === 0) return null
  return weights.br >= weights.gzip ? 'br' : 'gzip'
}

/** Compresses outside the event loop. `null`: the bytes are too few. */
export async function compress(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array | null> {
  if (bytes.byteLength < LEAST_BYTES) return null
  return encoding === 'br' ? promisify(brotliCompress)(bytes, BROTLI) : promisify(gzip)(bytes, GZIP)
}
