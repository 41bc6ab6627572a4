import { ByteWriter } from '#core/search/bytes.ts'
import { nameOfTerm, termOfName } from '#core/search/term-name.ts'
import { compareBytes } from '#core/text.ts'
import { addPosting, clearPostings, createTermPostings } from './term-postings.ts'
import { createSource, type TermSource } from './term-source.ts'

/** Postings of one item after another, held until there are too many and then taken by term. */
export interface PostingRun {
  readonly isEmpty: boolean
  /** Nothing fails when more is added, but memory is no longer bounded. */
  readonly isFull: boolean
  /** Items come in order of their numbers, each term of an item once. */
  add(item: number, term: string, posting: number): void
  /** The terms in byte order of their names; each with its postings by item. Then the run is empty. */
  take(): TermSource
}

/** Postings of a run: 4 bytes each, and as many again while they are sorted. */
export const RUN_POSTINGS = 2 ** 21
/** Different terms of a run: sorting them takes a moment in which nothing else happens. */
export const RUN_TERMS = 2 ** 17

/** A posting takes the low bits of a word; the number of its term, and later of its item in the run, the others. */
const POSTING_BITS = 8
const RUN_ITEMS = 2 ** (32 - POSTING_BITS)

export function createPostingRun(maxPostings = RUN_POSTINGS): PostingRun {
  const terms = new Map<string, number>()
  let hasHighUnits = false
  let words = new Uint32Array(1024)
  let size = 0
  // Items that have postings, and where the postings of each end.
  let items: number[] = []
  let ends: number[] = []

  function intern(term: string): number {
    const known = terms.get(term)
    if (known !== undefined) return known
    const number = terms.size
    hasHighUnits ||= HIGH_UNIT.test(term)
    terms.set(ownCopy(term), number)
    return number
  }

  /** Counting sort: each posting to its place behind those of the terms before; items stay in order. */
  function sortByTerm(names: readonly string[]): { words: Uint32Array; ends: Uint32Array } {
    const next = new Uint32Array(terms.size)
    for (let index = 0; index < size; index++) {
      const term = (words[index] as number) >>> POSTING_BITS
      next[term] = (next[term] as number) + 1
    }
    let start = 0
    const termEnds = Uint32Array.from(names, name => {
      const number = terms.get(termOfName(name)) as number
      const count = next[number] as number
      next[number] = start
      start += count
      return start
    })
    const byTerm = new Uint32Array(size)
    const firstItem = items[0] ?? 0
    let item = 0
    for (let index = 0; index < size; index++) {
      while (index >= (ends[item] as number)) item++
      const word = words[index] as number
      const term = word >>> POSTING_BITS
      const place = next[term] as number
      byTerm[place] = ((items[item] as number) - firstItem) * 2 ** POSTING_BITS + (word % 2 ** POSTING_BITS)
      next[term] = place + 1
    }
    return { words: byTerm, ends: termEnds }
  }

  return {
    get isEmpty() {
      return size === 0
    },
    get isFull() {
      return size >= maxPostings || terms.size >= RUN_TERMS || (items.at(-1) ?? 0) - (items[0] ?? 0) >= RUN_ITEMS - 1
    },
    add(item, term, posting) {
      if (items[items.length - 1] !== item) items.push(item)
      if (size === words.length) {
        const grown = new Uint32Array(2 * size)
        grown.set(words)
        words = grown
      }
      words[size++] = intern(term) * 2 ** POSTING_BITS + posting
      ends[items.length - 1] = size
    },
    take() {
      // The order of UTF-16 units is the order of bytes up to the surrogates, and much faster to sort by.
      const names = Array.from(terms.keys(), nameOfTerm).sort(hasHighUnits ? compareBytes : undefined)
      const { words: byTerm, ends: termEnds } = sortByTerm(names)
      const firstItem = items[0] ?? 0
      terms.clear()
      hasHighUnits = false
      size = 0
      items = []
      ends = []
      const text = new ByteWriter(256)
      const current = createTermPostings()
      current.term = text
      let rank = 0
      let at = 0
      return createSource(current, () => {
        if (rank === names.length) return false
        text.cut(0)
        text.utf8(names[rank] as string)
        clearPostings(current)
        for (const end = termEnds[rank] as number; at < end; at++) {
          const word = byTerm[at] as number
          addPosting(current, firstItem + (word >>> POSTING_BITS), word % 2 ** POSTING_BITS)
        }
        rank++
        return true
      })
    },
  }
}

const HIGH_UNIT = /[\ud800-\uffff]/

/** A piece of a long text keeps the whole text alive; a copy does not. */
function ownCopy(term: string): string {
  return Buffer.from(term, 'utf16le').toString('utf16le')
}
