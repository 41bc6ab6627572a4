import { z } from 'zod'
import { canonicalJson } from '../snapshot/canonical-json.ts'
import { Location } from '../snapshot/format.ts'
import { encodeText } from '../text.ts'
import { createByteReader, createByteWriter, NO_BYTES, textOfBytes } from './bytes.ts'

/** The three kinds of blocks of a search section, before compression. Each begins anew, so that one can be read without another. */

/** Bytes of terms or words that a block holds before it is cut. */
export const BLOCK_BYTES = 8 * 1024
/** Items of a block; the last one may have fewer. */
export const BLOCK_ITEMS = 32
/** Postings of so many bytes stand beside their term. */
export const INLINE_BYTES = 14

/** One term of the dictionary. */
export interface TermEntry<Text = string> {
  term: Text
  /** How many items have it. */
  items: number
  /** Its list of postings where that is short, else how many bytes it takes in the postings, where lists stand in the order of terms. */
  postings: Uint8Array | number
}

/** Builds one block of terms in UTF-8; they come in byte order. */
export interface TermsBlockWriter {
  readonly bytes: number
  add(entry: TermEntry<Uint8Array>): void
  /** The block; the writer is empty again. */
  finish(): Uint8Array
}

export function createTermsBlockWriter(): TermsBlockWriter {
  const writer = createByteWriter(2 * BLOCK_BYTES)
  let previous: Uint8Array = NO_BYTES
  return {
    get bytes() {
      return writer.length
    },
    add({ term, items, postings }) {
      writer.text(term, previous)
      previous = term
      writer.varint(items)
      const bytes = typeof postings === 'number' ? postings : postings.length
      writer.varint(bytes)
      if (typeof postings !== 'number') writer.bytes(postings)
    },
    finish() {
      const block = writer.finish()
      writer.reset()
      previous = NO_BYTES
      return block
    },
  }
}

/** A term of a block, with the place of its postings before those of the block's own first list. */
export interface FoundTerm<Text = string> extends TermEntry<Text> {
  /** Where its list begins, in bytes behind the first list of the block. Of no meaning when the postings stand beside it. */
  offset: number
}

/**
 * The terms of a block in byte order. The views of postings stay valid as long as the block.
 *
 * @throws RangeError or TypeError when the bytes are no block of terms
 */
export function* readTermsBlock(block: Uint8Array): Generator<FoundTerm> {
  for (const found of readStoredTerms(block)) yield { ...found, term: textOfBytes(found.term) }
}

/**
 * The same with the terms as they are stored, in UTF-8.
 *
 * @throws RangeError when the bytes are no block of terms
 */
export function* readStoredTerms(block: Uint8Array): Generator<FoundTerm<Uint8Array>> {
  const reader = createByteReader(block)
  let previous: Uint8Array = NO_BYTES
  let offset = 0
  while (!reader.atEnd) {
    previous = reader.text(previous)
    const items = reader.varint()
    const length = reader.varint()
    const isInline = length <= INLINE_BYTES
    yield { term: previous, items, postings: isInline ? reader.bytes(length) : length, offset }
    if (!isInline) offset += length
  }
}

/** A word that a misspelled one may have meant. */
export interface SpellingEntry {
  word: string
  /** How many items have it. */
  items: number
}

/** One block of words of one length, in byte order. */
export function writeSpellingBlock(words: readonly SpellingEntry[]): Uint8Array {
  const writer = createByteWriter(BLOCK_BYTES)
  let previous: Uint8Array = NO_BYTES
  for (const { word, items } of words) {
    const text = encodeText(word)
    writer.text(text, previous)
    previous = text
    writer.varint(items)
  }
  return writer.finish()
}

/** @throws RangeError or TypeError when the bytes are no block of words */
export function readSpellingBlock(block: Uint8Array): SpellingEntry[] {
  const reader = createByteReader(block)
  const words: SpellingEntry[] = []
  let previous: Uint8Array = NO_BYTES
  while (!reader.atEnd) {
    previous = reader.text(previous)
    words.push({ word: textOfBytes(previous), items: reader.varint() })
  }
  return words
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
  return encodeText(canonicalJson(items))
}

/** @throws SyntaxError or ZodError when the bytes are no block of items */
export function readItemsBlock(block: Uint8Array): ItemRecord[] {
  return ItemsBlock.parse(JSON.parse(textOfBytes(block)))
}
