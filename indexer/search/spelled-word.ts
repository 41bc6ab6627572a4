import { isStopWord } from '#core/search/analyze.ts'

/** UTF-16 units of a word that a misspelled one may have meant. */
const SPELLED_UNITS = { min: 4, max: 32 }

/** Whether a term is a word that people write, and so misspell: no identifier with joints, no pair of characters, nothing too short. */
export function isSpelledWord(term: string): boolean {
  return term.length >= SPELLED_UNITS.min && term.length <= SPELLED_UNITS.max && !NO_WORD.test(term) && !isStopWord(term)
}

// The joints of identifiers, and surrogates: a pair of characters is that long where both are rare ones.
const NO_WORD = /[-_./:\ud800-\udfff]/
