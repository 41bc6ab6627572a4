import { createHash } from 'node:crypto'
import { SEARCHED_FILE_BYTES } from '#core/limits.ts'
import { SEARCH_VERSION } from '#core/search/analyze.ts'
import { FINGERPRINT_BYTES } from '#core/search/head.ts'
import { cutAtBytes } from '#core/text.ts'
import type { SearchInput } from './input.ts'

/** Stands for everything that decides the postings of an item and the length of its title: equal for equal items only, in any commit. */
export function fingerprintOf({ path, kind, title, summary, fields }: SearchInput): Uint8Array {
  const { name, description, keywords, headings, body } = fields
  const hash = createHash('sha256')
  hash.update(`${SEARCH_VERSION} ${kind}`)
  const searchedBody = body === undefined ? undefined : cutAtBytes(body, SEARCHED_FILE_BYTES)
  for (const text of [path, title, summary, name, description, keywords, headings, searchedBody]) {
    // With its length in front, no text can pass for the end of another.
    hash.update(text === undefined ? ' -' : ` ${text.length} `)
    if (text !== undefined) hash.update(text)
  }
  return hash.digest().subarray(0, FINGERPRINT_BYTES)
}
