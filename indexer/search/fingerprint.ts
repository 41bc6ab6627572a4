import { hash } from 'node:crypto'
import { SEARCHED_FILE_BYTES } from '#core/limits.ts'
import { FINGERPRINT_BYTES } from '#core/search/head.ts'
import { SEARCH_VERSION } from '#core/snapshot/versions.ts'
import { cutAtBytes } from '#core/text.ts'
import type { SearchInput } from './input.ts'

/**
 * A hash of everything that decides the postings and the title length of an item. Two items with the same fingerprint have the same postings
 * and title length, whichever commits they are in.
 */
export function fingerprintOf({ path, kind, title, summary, fields }: SearchInput): Uint8Array {
  const { name, description, keywords, headings, body, blob } = fields
  const texts = [path, title, summary, name, description, keywords]
  if (blob === undefined) texts.push(headings, hashOfBody(body))
  else texts.push(blob)
  // The lengths keep the texts apart.
  let lengths = ''
  let joined = ''
  for (const text of texts) {
    lengths += ` ${text?.length ?? '-'}`
    joined += text ?? ''
  }
  return hash('sha256', `${SEARCH_VERSION} ${kind}${lengths}\n${joined}`, 'buffer').subarray(0, FINGERPRINT_BYTES)
}

// Hashed by itself: joining the body with the other texts would copy it.
function hashOfBody(body: string | undefined): string | undefined {
  return body === undefined ? undefined : hash('sha256', cutAtBytes(body, SEARCHED_FILE_BYTES))
}
