import { z } from 'zod'
import { Location } from '../snapshot/format.ts'
import { encodeText } from '../text.ts'
import { ByteReader, type Bytes, ByteWriter, commonBytes, textOfBytes } from './bytes.ts'
import type { ListColumns } from './postings.ts'

/**
 * The three kinds of blocks of a search section, before compression. Each begins anew, so that one can be read without another.
 * Terms and words stand in columns, what is alike together: it packs better, and one column is looked through without the others.
 */

/** Bytes of a block of terms. It ends in front of a term that is a border (`isBorder`), or when it has more. */
export const BLOCK_BYTES = { least: 12 * 1024, most: 24 * 1024 }
/** Items of a block; the last one may have fewer. */
export const BLOCK_ITEMS = 32
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

/** A word that a misspelled one may have meant. */
export interface SpellingEntry {
  word: string
  /** How many items have it. */
  items: number
}

/** Builds one block of words of one length; they come in byte order. */
export interface WordsBlockWriter {
  words: number
  add(word: Bytes, items: number): void
  /** The block; the writer is empty again. */
  finish(): Uint8Array
}

export function createWordsBlockWriter(): WordsBlockWriter {
  const texts = new TextsWriter()
  const counts = new ByteWriter()
  const writer: WordsBlockWriter = {
    words: 0,
    add(word, items) {
      texts.add(word)
      counts.varint(items)
      writer.words++
    },
    finish() {
      texts.begin()
      writer.words = 0
      return takeColumns([...texts.columns, counts])
    },
  }
  return writer
}

/** A block of words at one word after another. */
export interface WordsBlockReader {
  readonly texts: TextsReader
  /** How many items have each word, one after another. */
  readonly counts: ByteReader
}

/** @throws RangeError, as all of its steps do, when the bytes are no block of words */
export function openWordsBlock(block: Uint8Array): WordsBlockReader {
  const [widths, texts, counts] = openColumns(block, 3) as [ByteReader, ByteReader, ByteReader]
  return { texts: new TextsReader(widths, texts), counts }
}

// Terms are counted in millions, hence classes as in `bytes.ts`.

/** Texts in byte order, each as it differs from the one before: how many bytes they share and how many follow, in one byte; and those that follow. */
class TextsWriter {
  readonly columns = [new ByteWriter(), new ByteWriter()] as const
  readonly #previous = new ByteWriter(256)

  get bytes(): number {
    return this.columns[0].length + this.columns[1].length
  }

  add({ data, length }: Bytes): void {
    const [widths, rests] = this.columns
    const previous = this.#previous
    const shared = commonBytes(data, length, previous.data, previous.length)
    const more = length - shared
    widths.byte(Math.min(shared, WIDE) * 16 + Math.min(more, WIDE))
    if (shared >= WIDE) widths.varint(shared - WIDE)
    if (more >= WIDE) widths.varint(more - WIDE)
    rests.bytes(data, shared, length)
    previous.cut(shared)
    previous.bytes(data, shared, length)
  }

  /** The next text has none before it. */
  begin(): void {
    this.#previous.cut(0)
  }
}

/** Half a byte that says this is followed by a number that says how much more. */
const WIDE = 15

/** The texts of a block, one after another. */
export class TextsReader {
  /** The text at hand, in UTF-8. */
  readonly text: Bytes
  readonly #text = new ByteWriter(256)
  readonly #widths: ByteReader
  readonly #rests: ByteReader

  constructor(widths: ByteReader, rests: ByteReader) {
    this.text = this.#text
    this.#widths = widths
    this.#rests = rests
  }

  /** Goes on to the next text; whether there is one. @throws RangeError */
  next(): boolean {
    const text = this.#text
    const widths = this.#widths
    if (widths.atEnd) {
      if (!this.#rests.atEnd) throw new RangeError('more bytes than texts')
      return false
    }
    const both = widths.byte()
    const shared = both >> 4 === WIDE ? WIDE + widths.varint() : both >> 4
    const more = both % 16 === WIDE ? WIDE + widths.varint() : both % 16
    if (shared > text.length) throw new RangeError('a text shares more than there is')
    text.cut(shared)
    this.#rests.copyTo(text, more)
    return true
  }

  /**
   * Goes on to the first of the texts that are left which does not come before `bytes`, without making those in between.
   *
   * @returns how many steps that are; 0 when there is no such text
   * @throws RangeError
   */
  seek(bytes: Uint8Array): number {
    const text = this.#text
    const widths = this.#widths
    const rests = this.#rests
    /** How many bytes the text at hand begins with like `bytes`: it comes before them, so what shares more with it does, too. */
    let alike = 0
    let length = text.length
    for (let steps = 1; !widths.atEnd; steps++) {
      const both = widths.byte()
      const shared = both >> 4 === WIDE ? WIDE + widths.varint() : both >> 4
      const more = both % 16 === WIDE ? WIDE + widths.varint() : both % 16
      if (shared > length) throw new RangeError('a text shares more than there is')
      length = shared + more
      const start = rests.position
      rests.skip(more)
      if (shared > alike) continue
      alike = shared
      const end = start + more
      let at = start
      while (at < end && alike < bytes.length && rests.data[at] === bytes[alike]) {
        at++
        alike++
      }
      const isBefore = alike < bytes.length && (at === end || (rests.data[at] as number) < (bytes[alike] as number))
      if (isBefore) continue
      text.cut(0)
      text.bytes(bytes, 0, shared)
      text.bytes(rests.data, start, end)
      return steps
    }
    return 0
  }
}

/** The columns one behind the other, with their lengths in front but for the last; empties them. */
function takeColumns(columns: readonly ByteWriter[]): Uint8Array {
  const block = new ByteWriter(columns.reduce((bytes, { length }) => bytes + length, 5 * columns.length))
  for (const { length } of columns.slice(0, -1)) block.varint(length)
  for (const column of columns) {
    block.bytes(column.data, 0, column.length)
    column.cut(0)
  }
  return block.finish()
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

/** @throws RangeError */
function openColumns(block: Uint8Array, count: number): ByteReader[] {
  const lengths = new ByteReader(block)
  const ends = Array.from({ length: count - 1 }, () => lengths.varint())
  let start = lengths.position
  return [...ends, null].map(length => {
    const end = length === null ? block.length : start + length
    if (end > block.length) throw new RangeError('a column is longer than its block')
    const column = new ByteReader(block, start, end)
    start = end
    return column
  })
}

/** The first key of a block of words in the index: words are ordered by their length in UTF-16 units, then by bytes. */
export function spellingKey(word: string): string {
  return String.fromCharCode(word.length) + word
}

/** What is shown of an item. */
export const ItemRecord = z.object({
  path: z.string(),
  title: z.string(),
  summary: z.string(),
  /** The record of its text, when its body is searched: passages are taken from it. */
  text: Location.nullable(),
})
export type ItemRecord = z.infer<typeof ItemRecord>

const ItemsBlock = z.array(z.unknown()).min(1).max(BLOCK_ITEMS)

/** One block of at most `BLOCK_ITEMS` items, in the order of their numbers. */
export function writeItemsBlock(items: readonly ItemRecord[]): Uint8Array {
  return encodeText(JSON.stringify(items.map(({ path, title, summary, text }) => ({ path, title, summary, text }))))
}

/** A block of items, of which mostly one is wanted: none is checked before it is asked for. */
export interface ItemsBlockReader {
  /** How many there are. */
  readonly items: number
  /** @throws ZodError when it is no item, or not there */
  at(place: number): ItemRecord
}

/** @throws SyntaxError or ZodError when the bytes are no block of items */
export function openItemsBlock(block: Uint8Array): ItemsBlockReader {
  const items = ItemsBlock.parse(JSON.parse(textOfBytes(block)))
  return { items: items.length, at: place => ItemRecord.parse(items[place]) }
}
