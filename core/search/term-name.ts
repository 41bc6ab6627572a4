import { isStopWord } from './analyze.ts'

/**
 * What a term is called in the dictionary of a section, which is in byte order of names. Stop words stand in front of all others:
 * a question has some of them, and finds them in one place.
 */
export function nameOfTerm(term: string): string {
  return isStopWord(term) ? `${STOP_WORD_MARK}${term}` : term
}

export function termOfName(name: string): string {
  return name.startsWith(STOP_WORD_MARK) ? name.slice(STOP_WORD_MARK.length) : name
}

/** Stands in no term. */
export const STOP_WORD_MARK = '\0'
