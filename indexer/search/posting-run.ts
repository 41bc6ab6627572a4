import { ByteWriter } from '#core/search/bytes.ts'
import { nameOfTerm } from '#core/search/terms-block.ts'
import { compareBytes } from '#core/text.ts'
import { Lexicon } from './item-terms.ts'
import { createSource, type TermSource } from './merge.ts'
import { addPosting, clearPostings, createTermPostings } from './term-postings.ts'

/** Postings of a run: 4 bytes each, and 4 more while they are sorted. */
export const RUN_POSTINGS = 2 ** 21
/** Different terms of a run: sorting them blocks the process for a moment. */
export const RUN_TERMS = 2 ** 17

/** The low bits of a word hold a posting; the others the number of its term, and after sorting the number of its item within the run. */
const POSTING_BITS = 8
const POSTINGS = 2 ** POSTING_BITS
const RUN_ITEMS = 2 ** (32 - POSTING_BITS)

/** A run of an external sort: collects postings by item, and returns them by term. */
export class PostingRun {
  readonly #maxPostings: number
  #lexicon = new Lexicon()
  #words = new Uint32Array(1024)
  #size = 0
  // Items with postings, and the end of each item's postings in `#words`.
  #items: number[] = []
  #ends: number[] = []

  constructor(maxPostings = RUN_POSTINGS) {
    this.#maxPostings = maxPostings
  }

  /** The terms so far, whose numbers `add` takes. Another one once the run was taken. */
  get lexicon(): Lexicon {
    return this.#lexicon
  }

  /** A full run still takes postings, but its memory is no longer bounded. */
  get isFull(): boolean {
    if (this.#size >= this.#maxPostings || this.#lexicon.size >= RUN_TERMS) return true
    return (this.#items.at(-1) ?? 0) - (this.#items[0] ?? 0) >= RUN_ITEMS - 1
  }

  /** Items come in order of their numbers, each term of an item once. */
  add(item: number, term: number, posting: number): void {
    if (this.#items[this.#items.length - 1] !== item) this.#items.push(item)
    if (this.#size === this.#words.length) this.#grow()
    this.#words[this.#size++] = term * POSTINGS + posting
    this.#ends[this.#items.length - 1] = this.#size
  }

  /** Returns the terms in byte order of their names, each with its postings by item, and empties the run. */
  take(): TermSource {
    const numbers = new Map<string, number>()
    let hasHighUnits = false
    for (const text of this.#lexicon.texts()) {
      hasHighUnits ||= HIGH_UNIT.test(text)
      numbers.set(nameOfTerm(text), numbers.size)
    }
    // Up to the surrogates, the order of UTF-16 units is the order of bytes, and sorts much faster.
    const names = [...numbers.keys()].sort(hasHighUnits ? compareBytes : undefined)
    const termsInOrder = Uint32Array.from(names, name => numbers.get(name) as number)
    const items = this.#items
    const sorted = sortByTerm(this.#words.subarray(0, this.#size), { items, ends: this.#ends }, termsInOrder)
    this.#clear()
    return readSorted(names, sorted, items[0] ?? 0)
  }

  #grow(): void {
    const grown = new Uint32Array(2 * this.#size)
    grown.set(this.#words)
    this.#words = grown
  }

  #clear(): void {
    this.#lexicon = new Lexicon()
    this.#size = 0
    this.#items = []
    this.#ends = []
  }
}

const HIGH_UNIT = /[\ud800-\uffff]/

interface SortedPostings {
  /** Item (counted from the first of the run) and posting of every word. */
  words: Uint32Array
  /** The end of each term's words, in the order of the terms. */
  ends: Uint32Array
}

/** Counting sort by term: the items of a term stay in order. */
function sortByTerm(
  words: Uint32Array,
  { items, ends }: { items: readonly number[]; ends: readonly number[] },
  termsInOrder: Uint32Array,
): SortedPostings {
  const { next, termEnds } = placesOfTerms(words, termsInOrder)
  const sorted = new Uint32Array(words.length)
  const firstItem = items[0] ?? 0
  let item = 0
  for (let index = 0; index < words.length; index++) {
    while (index >= (ends[item] as number)) item++
    const word = words[index] as number
    const term = word >>> POSTING_BITS
    const place = next[term] as number
    sorted[place] = ((items[item] as number) - firstItem) * POSTINGS + (word % POSTINGS)
    next[term] = place + 1
  }
  return { words: sorted, ends: termEnds }
}

/** `next`: where the words of each term begin, by its number. */
function placesOfTerms(words: Uint32Array, termsInOrder: Uint32Array): { next: Uint32Array; termEnds: Uint32Array } {
  const next = new Uint32Array(termsInOrder.length)
  for (let index = 0; index < words.length; index++) {
    const term = (words[index] as number) >>> POSTING_BITS
    next[term] = (next[term] as number) + 1
  }
  let start = 0
  const termEnds = termsInOrder.map(term => {
    const count = next[term] as number
    next[term] = start
    start += count
    return start
  })
  return { next, termEnds }
}

function readSorted(names: readonly string[], { words, ends }: SortedPostings, firstItem: number): TermSource {
  const name = new ByteWriter(256)
  const current = createTermPostings()
  current.term = name
  let rank = 0
  let at = 0
  return createSource(current, () => {
    if (rank === names.length) return false
    name.cut(0)
    name.utf8(names[rank] as string)
    clearPostings(current)
    for (const end = ends[rank] as number; at < end; at++) {
      const word = words[at] as number
      addPosting(current, firstItem + (word >>> POSTING_BITS), word % POSTINGS)
    }
    rank++
    return true
  })
}
