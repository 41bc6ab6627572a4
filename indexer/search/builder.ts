import { createTurns } from '#core/concurrency/turns.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { fingerprintOf } from './fingerprint.ts'
import { type Originals, type SearchInput, withText } from './input.ts'
import { ItemList } from './item-list.ts'
import { visitItemTerms } from './item-terms.ts'
import { mergeTerms } from './merge.ts'
import { writeTerms } from './overlay.ts'
import type { SectionPlace } from './page-stream.ts'
import { PostingRun, RUN_POSTINGS } from './posting-run.ts'
import type { PreviousSection } from './previous.ts'
import { openScratchFile, type Scratch } from './scratch.ts'
import { SectionWriter } from './section-writer.ts'
import { readRun, type StoredRun, storeRun } from './stored-run.ts'
import type { TermSource } from './term-source.ts'

/** Builds the search section of one commit. The same items give the same bytes, with or without a previous section. */
export interface SearchBuilder {
  /**
   * Adds one item; its text may be freed afterwards. Items come in byte order of their paths.
   * Wait for the promise, where there is one, before the next item.
   *
   * @throws RangeError when a path is out of order
   */
  add(item: SearchInput): void | Promise<void>
  /**
   * Writes the section and resolves with its location; `null` when there are no items. Call it once.
   *
   * @param originals default: no skill is a copy
   * @throws RangeError when a supporting file came without its skill
   */
  finish(originals?: Originals): Promise<SearchSection | null>
  /** Removes the scratch file, after `finish` or instead of it. */
  close(): Promise<void>
}

export interface SearchBuilderOptions {
  /** Unchanged items are taken from there. */
  previous?: PreviousSection | null
  /** Its reason is thrown between the steps of long walks. */
  signal?: AbortSignal
  /** Postings held in memory. */
  runPostings?: number
  /** Opens the place for postings that exceed memory. */
  openScratch?: () => Promise<Scratch>
}

export function createSearchBuilder(place: SectionPlace, options: SearchBuilderOptions = {}): SearchBuilder {
  const { previous = null, signal, runPostings = RUN_POSTINGS, openScratch = openScratchFile } = options
  const section = new SectionWriter(place, previous)
  const items = new ItemList()
  const unchanged = previous && new UnchangedItems(previous)
  const run = new PostingRun(runPostings)
  const spilled = new SpilledRuns(openScratch)
  const turn = createTurns(signal)

  return {
    add(item) {
      const fingerprint = fingerprintOf(item)
      const number = items.next(item)
      const place = (titleLength: number) => {
        items.add(item, fingerprint, titleLength)
        const { path, title, summary, text } = item
        section.addItem({ path, title, summary, text })
        return run.isFull ? spilled.add(run.take(), turn) : undefined
      }
      const analyse = (whole: SearchInput) =>
        place(visitItemTerms(whole, run.lexicon, (term, posting) => run.add(number, term, posting)))
      const known = unchanged?.take(fingerprint, number)
      if (known != null) return place(known)
      const whole = withText(item)
      return whole instanceof Promise ? whole.then(analyse) : analyse(whole)
    },
    async finish(originals = new Map()) {
      const { fingerprints, ...numbered } = items.finish(originals)
      if (numbered.kinds.length === 0) return null
      const changed = mergeTerms([...spilled.read(), run.take()])
      const numbers = unchanged?.numbers ?? NO_NUMBERS
      await writeTerms(section, { earlier: previous?.terms() ?? [], numbers, changed }, turn)
      return section.finish(numbered, fingerprints)
    },
    close: () => spilled.close(),
  }
}

const NO_NUMBERS = new Int32Array(0)

/** Finds the items of the previous section that did not change, and notes their new numbers. */
class UnchangedItems {
  /** The new number of each previous item; -1: it changed or is gone. */
  readonly numbers: Int32Array
  readonly #previous: PreviousSection
  #last = -1

  constructor(previous: PreviousSection) {
    this.numbers = new Int32Array(previous.items).fill(-1)
    this.#previous = previous
  }

  /** The title length of the item with this fingerprint, which now has this number; `undefined` when it changed. */
  take(fingerprint: Uint8Array, number: number): number | undefined {
    const item = this.#previous.find(fingerprint)
    // Previous numbers must grow: the merge of the terms relies on it, and paths keep their order from commit to commit.
    if (item <= this.#last) return undefined
    this.numbers[item] = number
    this.#last = item
    return this.#previous.titleLength(item)
  }
}

/** Runs that exceeded memory, in a scratch file that is opened for the first of them. */
class SpilledRuns {
  readonly #openScratch: () => Promise<Scratch>
  readonly #runs: StoredRun[] = []
  #scratch: Scratch | null = null

  constructor(openScratch: () => Promise<Scratch>) {
    this.#openScratch = openScratch
  }

  async add(terms: TermSource, turn: () => Promise<void> | undefined): Promise<void> {
    this.#scratch ??= await this.#openScratch()
    this.#runs.push(await storeRun(this.#scratch, terms, turn))
  }

  read(): TermSource[] {
    return this.#runs.map(run => readRun(this.#scratch as Scratch, run))
  }

  async close(): Promise<void> {
    await this.#scratch?.close()
    this.#scratch = null
  }
}
