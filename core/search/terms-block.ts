import { type ByteReader, type Bytes, ByteWriter } from './bytes.ts'
import { openColumns, takeColumns } from './columns.ts'
import type { ListColumns } from './postings.ts'
import { TextsReader, TextsWriter } from './texts.ts'

/** A block of terms before compression. It begins anew, so that it can be read without another. */

/** Its bytes. It ends in front of a term that is a border (`isBorder`), or when it has more. */
export const BLOCK_BYTES = { least: 12 * 1024, most: 24 * 1024 }
/** The postings of so many items stand beside their term. */
export const INLINE_ITEMS = 16

/** A term and its list of postings (`visitPostings`), in its two halves. */
export interface TermList {
  /** Its name (`term-name.ts`), in UTF-8. */
  readonly term: Bytes
  readonly items: number
  readonly gaps: Bytes
  readonly postings: Bytes
}

/** Builds one block of terms; they come in byte order. */
export interface TermsBlockWriter {
  bytes(): number
  /** Whether the list stands in the block: if not, it belongs behind those of the terms before, outside. */
  add(list: TermList): boolean
  /** The halves of the lists in the block: one of at most `inlineItems` may be written behind the others before its term is added. */
  readonly gaps: ByteWriter
  readonly postings: ByteWriter
  /** Adds the term of the list that was written. */
  addWritten(term: Bytes, items: number): void
  /** The block; the writer is empty again. */
  finish(): Uint8Array
}

/** @param inlineItems lists of more items stand outside */
export function createTermsBlockWriter(inlineItems = INLINE_ITEMS): TermsBlockWriter {
  const texts = new TextsWriter()
  const [counts, extras, gaps, postings] = [new ByteWriter(), new ByteWriter(), new ByteWriter(), new ByteWriter()]
  const columns = [...texts.columns, counts, extras, gaps, postings]
  return {
    gaps,
    postings,
    bytes() {
      return texts.bytes + counts.length + extras.length + gaps.length + postings.length
    },
    add(list) {
      texts.add(list.term)
      counts.varint(list.items)
      if (list.items > inlineItems) {
        // Few gaps take more than one byte.
        extras.varint(list.gaps.length - list.items)
        return false
      }
      gaps.bytes(list.gaps.data, 0, list.gaps.length)
      postings.bytes(list.postings.data, 0, list.postings.length)
      return true
    },
    addWritten(term, items) {
      texts.add(term)
      counts.varint(items)
    },
    finish() {
      texts.begin()
      return takeColumns(columns)
    },
  }
}

/**
 * Whether a block of terms may end in front of a term, which about one in 256 decides by itself: so most blocks begin where they did in the
 * commit before, and what is the same in both is stored once.
 */
export function isBorder({ data, length }: Bytes): boolean {
  let hash = 0x811c9dc5
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ (data[at] as number), 0x01000193)
  return ((hash >>> 8) ^ hash) % 256 === 0
}

/** A block of terms at one term after another: first its text, then its list where that is wanted. */
export interface TermsBlockReader {
  readonly texts: TextsReader
  readonly lists: ListsReader
}

const TERM_COLUMNS = 6

/** @throws RangeError, as all of its steps do, when the bytes are no block of terms */
export function openTermsBlock(block: Uint8Array, inlineItems = INLINE_ITEMS): TermsBlockReader {
  const [widths, texts, counts, extras, gaps, postings] = openColumns(block, TERM_COLUMNS) as [
    ByteReader,
    ByteReader,
    ByteReader,
    ByteReader,
    ByteReader,
    ByteReader,
  ]
  return { texts: new TextsReader(widths, texts), lists: new ListsReader(inlineItems, counts, extras, gaps, postings) }
}

/**
 * The lists of a block, one after another. The columns are those of the list at hand; of one that stands outside, their places behind the
 * first such list.
 */
export class ListsReader implements ListColumns {
  isInline = false
  gapsStart = 0
  gapsEnd = 0
  postingsStart = 0
  count = 0
  #outside = 0
  readonly #inlineItems: number
  readonly #counts: ByteReader
  readonly #extras: ByteReader
  readonly #gaps: ByteReader
  readonly #postings: ByteReader

  constructor(inlineItems: number, counts: ByteReader, extras: ByteReader, gaps: ByteReader, postings: ByteReader) {
    this.#inlineItems = inlineItems
    this.#counts = counts
    this.#extras = extras
    this.#gaps = gaps
    this.#postings = postings
  }

  /** Goes on to the list of the next term, of which there is one. @throws RangeError */
  next(): void {
    const count = this.#counts.varint()
    this.count = count
    this.isInline = count <= this.#inlineItems
    if (this.isInline) {
      this.gapsStart = this.#gaps.position
      this.#gaps.skipVarints(count)
      this.gapsEnd = this.#gaps.position
      this.postingsStart = this.#postings.position
      this.#postings.skip(count)
      return
    }
    this.gapsStart = this.#outside
    this.gapsEnd = this.gapsStart + count + this.#extras.varint()
    this.postingsStart = this.gapsEnd
    this.#outside = this.postingsStart + count
  }

  /** Goes on by so many terms, of which there are as many. @throws RangeError */
  pass(terms: number): void {
    let inline = 0
    for (let left = terms - 1; left > 0; left--) {
      const count = this.#counts.varint()
      if (count <= this.#inlineItems) inline += count
      else this.#outside += 2 * count + this.#extras.varint()
    }
    this.#gaps.skipVarints(inline)
    this.#postings.skip(inline)
    this.next()
  }

  /** Behind the last list. @throws RangeError when there is more */
  end(): void {
    if (![this.#counts, this.#extras, this.#gaps, this.#postings].every(({ atEnd }) => atEnd)) {
      throw new RangeError('more lists than terms')
    }
  }
}

/** One term of the dictionary, by its name. */
export interface FoundTerm {
  term: string
  /** How many items have it. */
  items: number
  /** Its list of postings, or where that begins and ends in bytes behind the first list of the block that stands outside. */
  postings: Uint8Array | { start: number; end: number }
}

/** The list at hand of a block of terms. */
export function listAtHand(
  block: Uint8Array,
  { isInline, gapsStart, gapsEnd, postingsStart, count }: ListsReader,
): FoundTerm['postings'] {
  if (!isInline) return { start: gapsStart, end: postingsStart + count }
  const list = new Uint8Array(gapsEnd - gapsStart + count)
  list.set(block.subarray(gapsStart, gapsEnd))
  list.set(block.subarray(postingsStart, postingsStart + count), gapsEnd - gapsStart)
  return list
}

/**
 * A block of terms in parts that are unlike each other, so that each is best compressed by itself. `isText`: it has pieces that come again;
 * numbers have only some that are more frequent than others.
 */
export function partsOfTermsBlock(block: Uint8Array): { bytes: Uint8Array; isText: boolean }[] {
  const [, texts, counts, , gaps, postings] = openColumns(block, TERM_COLUMNS).map(({ position }) => position)
  const borders = [0, texts, counts, gaps, postings, block.length]
  return borders.slice(1).flatMap((end, index) => {
    const bytes = block.subarray(borders[index], end)
    return bytes.length > 0 ? [{ bytes, isText: borders[index] === texts }] : []
  })
}
