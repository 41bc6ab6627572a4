import { z } from 'zod'
import { Location } from '../snapshot/format.ts'
import { encodeText } from '../text.ts'
import { ByteReader, type Bytes, ByteWriter, commonBytes, textOfBytes, varintBytes } from './bytes.ts'
import type { ListColumns } from './postings.ts'

/**
 * The three kinds of blocks of a search section, before compression. Each begins anew, so that one can be read without another.
 * Terms and words stand in columns, what is alike together: it packs better, and one column is looked through without the others.
 */

/** Bytes of terms that a block holds before it is cut. */
export const BLOCK_BYTES = 16 * 1024
/** Items of a block; the last one may have fewer. */
export const BLOCK_ITEMS = 32
/** The postings of so many items stand beside their term. */
export const INLINE_ITEMS = 16

/** A term and its list of postings (`visitPostings`), of which the first gap is apart: so lists can be put behind another. */
export interface TermList {
  /** In UTF-8. */
  readonly term: Bytes
  readonly items: number
  /** Its first item. */
  readonly first: number
  /** The gaps behind that. */
  readonly gaps: Bytes
  readonly postings: Bytes
}

/** Builds one block of terms; they come in byte order. */
export interface TermsBlockWriter {
  bytes(): number
  /** Whether the list stands in the block: if not, it belongs behind those of the terms before, outside. */
  add(list: TermList): boolean
  /** The block; the writer is empty again. */
  finish(): Uint8Array
}

/** @param inlineItems lists of more items stand outside */
export function createTermsBlockWriter(inlineItems = INLINE_ITEMS): TermsBlockWriter {
  const texts = createTextsWriter()
  const [counts, extras, gaps, postings] = [new ByteWriter(), new ByteWriter(), new ByteWriter(), new ByteWriter()]
  const columns = [...texts.columns, counts, extras, gaps, postings]
  return {
    bytes() {
      return texts.bytes() + counts.length + extras.length + gaps.length + postings.length
    },
    add(list) {
      texts.add(list.term)
      counts.varint(list.items)
      if (list.items > inlineItems) {
        // Few gaps take more than one byte.
        extras.varint(varintBytes(list.first) + list.gaps.length - list.items)
        return false
      }
      gaps.varint(list.first)
      gaps.bytes(list.gaps.data, 0, list.gaps.length)
      postings.bytes(list.postings.data, 0, list.postings.length)
      return true
    },
    finish() {
      texts.begin()
      return takeColumns(columns)
    },
  }
}

/** A block of terms at one term after another: first its text, then its list where that is wanted. */
export interface TermsBlockReader {
  readonly texts: TextsReader
  readonly lists: ListsReader
}

/** The lists of a block. The columns are those of the list at hand; of one that stands outside, their places behind the first such list. */
export interface ListsReader extends ListColumns {
  readonly isInline: boolean
  /** Goes on to the list of the next term, of which there is one. @throws RangeError */
  next(): void
  /** Behind the last list. @throws RangeError when there is more */
  end(): void
}

/** @throws RangeError, as all of its steps do, when the bytes are no block of terms */
export function openTermsBlock(block: Uint8Array, inlineItems = INLINE_ITEMS): TermsBlockReader {
  const [widths, texts, counts, extras, gaps, postings] = openColumns(block, 6) as [
    ByteReader,
    ByteReader,
    ByteReader,
    ByteReader,
    ByteReader,
    ByteReader,
  ]
  const lists = {
    isInline: false,
    gapsStart: 0,
    gapsEnd: 0,
    postingsStart: 0,
    count: 0,
    next() {
      lists.count = counts.varint()
      lists.isInline = lists.count <= inlineItems
      if (lists.isInline) {
        lists.gapsStart = gaps.position
        gaps.skipVarints(lists.count)
        lists.gapsEnd = gaps.position
        lists.postingsStart = postings.position
        postings.skip(lists.count)
        return
      }
      lists.gapsStart = outside
      lists.gapsEnd = lists.gapsStart + lists.count + extras.varint()
      lists.postingsStart = lists.gapsEnd
      outside = lists.postingsStart + lists.count
    },
    end() {
      if (![counts, extras, gaps, postings].every(({ atEnd }) => atEnd)) throw new RangeError('more lists than terms')
    },
  }
  let outside = 0
  return { texts: createTextsReader(widths, texts), lists }
}

/** One term of the dictionary. */
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
  const texts = createTextsWriter()
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
  return { texts: createTextsReader(widths, texts), counts }
}

/** Texts in byte order, each as it differs from the one before: how many bytes they share and how many follow, in one byte; and those that follow. */
function createTextsWriter() {
  const [widths, rests] = [new ByteWriter(), new ByteWriter()]
  const previous = new ByteWriter(256)
  return {
    columns: [widths, rests],
    bytes() {
      return widths.length + rests.length
    },
    add({ data, length }: Bytes): void {
      const shared = commonBytes(data, length, previous.data, previous.length)
      const more = length - shared
      widths.byte(Math.min(shared, WIDE) * 16 + Math.min(more, WIDE))
      if (shared >= WIDE) widths.varint(shared - WIDE)
      if (more >= WIDE) widths.varint(more - WIDE)
      rests.bytes(data, shared, length)
      previous.cut(shared)
      previous.bytes(data, shared, length)
    },
    /** The next text has none before it. */
    begin(): void {
      previous.cut(0)
    },
  }
}

/** Half a byte that says this is followed by a number that says how much more. */
const WIDE = 15

export interface TextsReader {
  /** The text at hand, in UTF-8. */
  readonly text: Bytes
  /** Goes on to the next text; whether there is one. @throws RangeError */
  next(): boolean
}

function createTextsReader(widths: ByteReader, rests: ByteReader): TextsReader {
  const text = new ByteWriter(256)
  return {
    text,
    next() {
      if (widths.atEnd) {
        if (!rests.atEnd) throw new RangeError('more bytes than texts')
        return false
      }
      const both = widths.byte()
      const shared = both >> 4 === WIDE ? WIDE + widths.varint() : both >> 4
      const more = both % 16 === WIDE ? WIDE + widths.varint() : both % 16
      if (shared > text.length) throw new RangeError('a text shares more than there is')
      text.cut(shared)
      rests.copyTo(text, more)
      return true
    },
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

const ItemsBlock = z.array(ItemRecord).min(1).max(BLOCK_ITEMS)

/** One block of at most `BLOCK_ITEMS` items, in the order of their numbers. */
export function writeItemsBlock(items: readonly ItemRecord[]): Uint8Array {
  return encodeText(JSON.stringify(items.map(({ path, title, summary, text }) => ({ path, title, summary, text }))))
}

/** @throws SyntaxError or ZodError when the bytes are no block of items */
export function readItemsBlock(block: Uint8Array): ItemRecord[] {
  return ItemsBlock.parse(JSON.parse(textOfBytes(block)))
}
