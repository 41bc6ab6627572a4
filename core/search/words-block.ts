import { type ByteReader, type Bytes, ByteWriter } from './bytes.ts'
import { openColumns, takeColumns } from './columns.ts'
import { TextsReader, TextsWriter } from './texts.ts'

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

/** The first key of a block of words in the index: words are ordered by their length in UTF-16 units, then by bytes. */
export function spellingKey(word: string): string {
  return String.fromCharCode(word.length) + word
}
