import type { Bytes } from '#core/search/bytes.ts'
import type { SectionWriter } from './section-writer.ts'
import type { StoredTerms } from './stored-terms.ts'
import { addRenumbered, clearPostings, compareTerms, createTermPostings, interleave, type TermPostings } from './term-postings.ts'
import type { TermSource } from './term-source.ts'

/** What is known of the terms of a commit. */
export interface OverlaidTerms {
  /** Those of an earlier section, in byte order of their names. */
  earlier: Iterable<StoredTerms>
  /** What an item of that is now, by the number that it had. Those grow; -1: it is gone, or has changed. */
  numbers: Int32Array
  /** Those of the other items, in the same order. */
  changed: TermSource
}

/** Asking the time for every term would take a tenth of it. */
const TERMS_A_TURN = 256

/** Writes the terms of a commit. Nearly all come from the earlier section alone, and go to this one as they are. */
export async function writeTerms(
  section: Pick<SectionWriter, 'addTerm' | 'takeTerm'>,
  { earlier, numbers, changed }: OverlaidTerms,
  turn: () => Promise<void> | undefined,
): Promise<void> {
  const kept = createTermPostings()
  const joined = createTermPostings()

  /** How the next changed term stands to this one. */
  function orderOfChanged(term: Bytes): number {
    return changed.current === null ? 1 : compareTerms(changed.current.term, term)
  }

  let changedTerms = 0
  /**
   * Writes the next changed term, or what it was joined to. A promise when something must be waited for: most terms are at hand and go into
   * a buffer, and waiting for each would take longer than merging it.
   */
  function writeChanged(postings: TermPostings | null = changed.current): Promise<void> | undefined {
    const writing = postings === null ? undefined : section.addTerm(postings)
    const waiting = writing ? writing.then(() => changed.next()) : changed.next()
    return waiting ?? (++changedTerms % TERMS_A_TURN === 0 ? turn() : undefined)
  }

  await changed.next()
  for (const stored of earlier) {
    while (stored.next()) {
      let order = orderOfChanged(stored.term)
      for (; order < 0; order = orderOfChanged(stored.term)) {
        const waiting = writeChanged()
        if (waiting) await waiting
      }
      if (order > 0 && section.takeTerm(stored, numbers)) continue

      clearPostings(kept)
      kept.term = stored.term
      addRenumbered(kept, stored.bytes, stored.list, numbers)
      const { current } = changed
      let waiting: Promise<void> | undefined
      if (order === 0 && current !== null) waiting = writeChanged(kept.items > 0 ? interleave(kept, current, joined) : current)
      else if (kept.items > 0) waiting = section.addTerm(kept)
      if (waiting) await waiting
    }
    const waiting = turn()
    if (waiting) await waiting
  }
  while (changed.current !== null) {
    const waiting = writeChanged()
    if (waiting) await waiting
  }
}
