import type { Bytes } from '#core/search/bytes.ts'
import type { SectionWriter } from './section-writer.ts'
import type { StoredTerms } from './stored-terms.ts'
import { addRenumbered, clearPostings, compareTerms, createTermPostings, interleave, type TermPostings } from './term-postings.ts'
import type { TermSource } from './term-source.ts'

/** The terms of a commit: those of an earlier section, overlaid by the terms of changed items. */
export interface OverlaidTerms {
  /** The terms of the earlier section, in byte order of their names. */
  earlier: Iterable<StoredTerms>
  /** The new number of each earlier item, growing; -1: the item changed or is gone. */
  numbers: Int32Array
  /** The terms of all other items, in the same order. */
  changed: TermSource
}

type TermTarget = Pick<SectionWriter, 'addTerm' | 'takeTerm'>

/** Writes the terms of a commit. Most come from the earlier section alone, and are copied as they are. */
export async function writeTerms(
  section: TermTarget,
  terms: OverlaidTerms,
  turn: () => Promise<void> | undefined,
): Promise<void> {
  const overlay = new Overlay(section, terms, turn)
  await terms.changed.next()
  for (const stored of terms.earlier) {
    while (stored.next()) {
      let order = overlay.orderOfChanged(stored.term)
      for (; order < 0; order = overlay.orderOfChanged(stored.term)) {
        const waiting = overlay.writeChanged()
        if (waiting) await waiting
      }
      const waiting = overlay.writeStored(stored, order === 0)
      if (waiting) await waiting
    }
    const waiting = turn()
    if (waiting) await waiting
  }
  while (terms.changed.current !== null) {
    const waiting = overlay.writeChanged()
    if (waiting) await waiting
  }
}

/** Reading the clock for every term would take a tenth of the time. */
const TERMS_A_TURN = 256

/** Its steps return a promise only where one must be awaited: awaiting every term would take longer than merging it. */
class Overlay {
  readonly #section: TermTarget
  readonly #numbers: Int32Array
  readonly #changed: TermSource
  readonly #turn: () => Promise<void> | undefined
  readonly #kept = createTermPostings()
  readonly #joined = createTermPostings()
  #changedTerms = 0

  constructor(section: TermTarget, { numbers, changed }: OverlaidTerms, turn: () => Promise<void> | undefined) {
    this.#section = section
    this.#numbers = numbers
    this.#changed = changed
    this.#turn = turn
  }

  /** Compares the next changed term with this one; after the last changed term it is 1. */
  orderOfChanged(term: Bytes): number {
    const { current } = this.#changed
    return current === null ? 1 : compareTerms(current.term, term)
  }

  /** Writes the next changed term, or its join with a stored one, and goes on to the one after it. */
  writeChanged(postings: TermPostings | null = this.#changed.current): Promise<void> | undefined {
    const writing = postings === null ? undefined : this.#section.addTerm(postings)
    const waiting = writing ? writing.then(() => this.#changed.next()) : this.#changed.next()
    return waiting ?? (++this.#changedTerms % TERMS_A_TURN === 0 ? this.#turn() : undefined)
  }

  /** Writes a stored term with the postings of unchanged items; `isChanged`: joined with the next changed term, which has the same name. */
  writeStored(stored: StoredTerms, isChanged: boolean): Promise<void> | undefined {
    if (!isChanged && this.#section.takeTerm(stored, this.#numbers)) return undefined
    const kept = this.#kept
    clearPostings(kept)
    kept.term = stored.term
    addRenumbered(kept, stored.bytes, stored.list, this.#numbers)
    if (!isChanged) return kept.items > 0 ? this.#section.addTerm(kept) : undefined
    const changed = this.#changed.current as TermPostings
    return this.writeChanged(kept.items > 0 ? interleave(kept, changed, this.#joined) : changed)
  }
}
