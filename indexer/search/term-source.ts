import type { TermPostings } from './term-postings.ts'

/** Iterates over terms in byte order of their names. */
export interface TermSource {
  /** The current term, valid until `next`; `null` before the first and after the last. */
  current: TermPostings | null
  /** Moves to the next term. Wait for the promise, where there is one. */
  next(): Promise<void> | undefined
}

/** @param fill writes the next term into `target`; `false` at the end */
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
