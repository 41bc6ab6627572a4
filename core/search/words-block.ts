import { type ByteReader, type Bytes, ByteWriter, openColumns, takeColumns } from './bytes.ts'
import { TextsReader, TextsWriter } from './texts.ts'

/** A word that spelling correction may suggest. */
export interface SpellingEntry {
  word: string
  /** The number of items that have it. */
  items: number
}

/** Builds one block of words of one length; they come in byte order. */
export interface WordsBlockWriter {
  words: number
  add(word: Bytes, items: number): void
  /** The bytes of the block. Clears the writer. */
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

/** Readers of the words and of their counts. */
export interface WordsBlockReader {
  readonly texts: TextsReader
  /** The number of items of each word. */
  readonly counts: ByteReader
}

/** @throws FormatError, as do all steps of the readers, when the bytes are not a block of words */
export function openWordsBlock(block: Uint8Array): WordsBlockReader {
  const [widths, texts, counts] = openColumns(block, 3) as [ByteReader, ByteReader, ByteReader]
  return { texts: new TextsReader(widths, texts), counts }
}

/** The key of a word in the index of blocks: words are ordered by length in UTF-16 units, then by bytes. */
export function spellingKey(word: string): string {
  return String.fromCharCode(word.length) + word
}
