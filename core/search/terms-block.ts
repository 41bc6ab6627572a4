import { FormatError } from '../snapshot/damage.ts'
import { isStopWord } from './analyze.ts'
import { type ByteReader, type Bytes, ByteWriter, openColumns, takeColumns } from './bytes.ts'
import type { ListColumns } from './postings.ts'
import { TextsReader, TextsWriter } from './texts.ts'

/** A block of terms before compression. It can be read without the blocks before it. */

/** Size of a block: it ends before a border term (`isBorder`) from `least` on, and before any term from `most` on. */
export const BLOCK_BYTES = { least: 12 * 1024, most: 24 * 1024 }
/** A list of at most so many items lies in the block of its term. */
export const INLINE_ITEMS = 16

/** A term and its list of postings (`visitPostings`), in its two halves. */
export interface TermList {
  /** Its name (`terms-block.ts`), in UTF-8. */
  readonly term: Bytes
  readonly items: number
  readonly gaps: Bytes
  readonly postings: Bytes
}

/** Builds one block of terms; they come in byte order. */
export interface TermsBlockWriter {
  bytes(): number
  /** Adds a term and its list. `false`: the list is too long, and the caller writes it after the long lists of earlier terms. */
  add(list: TermList): boolean
  /** The halves of the lists in the block. A caller may write a list of at most `inlineItems` here, and then call `addWritten`. */
  readonly gaps: ByteWriter
  readonly postings: ByteWriter
  /** Adds the term of a list that was written to `gaps` and `postings`. */
  addWritten(term: Bytes, items: number): void
  /** The bytes of the block. Clears the writer. */
  finish(): Uint8Array
}

/** @param inlineItems lists of more items lie outside the block */
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
        // Stored as the excess over one byte per gap: mostly 0.
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
 * Whether a block may end before this term: a hash of its name decides, on average for one term in 256. So most blocks begin with the same
 * term as in the previous commit, and most equal blocks are reused.
 */
export function isBorder({ data, length }: Bytes): boolean {
  let hash = 0x811c9dc5
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ (data[at] as number), 0x01000193)
  return ((hash >>> 8) ^ hash) % 256 === 0
}

/** Readers of the names and of the lists of a block. */
export interface TermsBlockReader {
  readonly texts: TextsReader
  readonly lists: ListsReader
}

const TERM_COLUMNS = 6

/** @throws FormatError, as do all steps of the readers, when the bytes are not a block of terms */
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
 * Steps through the lists of a block. The public fields describe the current list: its positions in the block or, if `isInline` is false,
 * relative to the start of the first list stored outside.
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

  /** Moves to the list of the next term, which must exist. @throws FormatError */
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

  /** Moves on by `terms` terms, which must exist. @throws FormatError */
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

  /** Checks that no list is left. @throws FormatError */
  end(): void {
    if (![this.#counts, this.#extras, this.#gaps, this.#postings].every(({ atEnd }) => atEnd)) {
      throw new FormatError('more lists than terms')
    }
  }
}

/** A term of the dictionary. */
export interface FoundTerm {
  term: string
  /** The number of items that have it. */
  items: number
  /** Its list of postings; or, for a list outside the block, its byte range from the first such list on. */
  postings: Uint8Array | { start: number; end: number }
}

/** The current list of a block of terms. */
export function currentList(
  block: Uint8Array,
  { isInline, gapsStart, gapsEnd, postingsStart, count }: ListsReader,
): FoundTerm['postings'] {
  if (!isInline) return { start: gapsStart, end: postingsStart + count }
  const list = new Uint8Array(gapsEnd - gapsStart + count)
  list.set(block.subarray(gapsStart, gapsEnd))
  list.set(block.subarray(postingsStart, postingsStart + count), gapsEnd - gapsStart)
  return list
}

/** Splits a block of terms into parts that compress best by themselves. `isText`: text with repeated pieces, else numbers. */
export function partsOfTermsBlock(block: Uint8Array): { bytes: Uint8Array; isText: boolean }[] {
  const [, texts, counts, , gaps, postings] = openColumns(block, TERM_COLUMNS).map(({ position }) => position)
  const borders = [0, texts, counts, gaps, postings, block.length]
  return borders.slice(1).flatMap((end, index) => {
    const bytes = block.subarray(borders[index], end)
    return bytes.length > 0 ? [{ bytes, isText: borders[index] === texts }] : []
  })
}

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
