import { isStopWord } from './analyze.ts'

/**
 * The name of a term in the dictionary of a section, which is in byte order of names. Stop words come first, so that the stop words of a
 * question take one read.
 */
export function nameOfTerm(term: string): string {
  return isStopWord(term) ? `${STOP_WORD_MARK}${term}` : term
}

export function termOfName(name: string): string {
  return name.startsWith(STOP_WORD_MARK) ? name.slice(STOP_WORD_MARK.length) : name
}

/** Occurs in no term. */
export const STOP_WORD_MARK = '\0'
