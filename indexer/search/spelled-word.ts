import { type Bytes, textOf } from '#core/search/bytes.ts'
import { STOP_WORD_MARK } from '#core/search/term-name.ts'

/** Length in UTF-16 units of words that spelling correction suggests. */
const SPELLED_UNITS = { min: 4, max: 32 }

/**
 * The term as a word that spelling correction may suggest; `null` for stop words, identifiers with joints, pairs and triples of characters, and
 * words that are too short or too long. Most terms are `null`, so only words are decoded.
 *
 * @param term its name, in UTF-8
 */
export function spelledWord(term: Bytes): string | null {
  const { data, length } = term
  let units = 0
  for (let at = 0; at < length; at++) {
    const byte = data[at] as number
    if (byte >= TWO_UNITS || NO_LETTERS[byte] === 1) return null
    if (byte < CONTINUATION || byte >= LEAD) units++
  }
  return units < SPELLED_UNITS.min || units > SPELLED_UNITS.max ? null : textOf(term)
}

/** The joints of identifiers and the mark of stop words. */
const NO_LETTERS = Uint8Array.from({ length: 256 }, (_, byte) =>
  `-_./:${STOP_WORD_MARK}`.includes(String.fromCharCode(byte)) ? 1 : 0,
)

// Bytes of UTF-8
const CONTINUATION = 0x80
const LEAD = 0xc0
/** Lead byte of a character with two UTF-16 units, which only pairs of rare characters have. */
const TWO_UNITS = 0xf0
