import type { TermPostings } from './term-postings.ts'

/** Terms in byte order of their names, one at a time. */
export interface TermSource {
  /** The term at hand, valid until the next; `null` in front of the first and behind the last. */
  current: TermPostings | null
  /** Goes on to the next term; a promise when that must be waited for. */
  next(): Promise<void> | undefined
}

/** @param fill puts the next term into `target`, and says whether there is one */
export function createSource(target: TermPostings, fill: () => boolean): TermSource {
  const source: TermSource = {
    current: null,
    next() {
      source.current = fill() ? target : null
      return undefined
    },
  }
  return source
}
