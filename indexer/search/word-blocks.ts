import type { Bytes } from '#core/search/bytes.ts'
import { createWordsBlockWriter, spellingKey } from '#core/search/words-block.ts'
import { BlockList } from './block-list.ts'
import { compress } from './compress.ts'
import { spelledWord } from './spelled-word.ts'

/** Words of a block, which then has about 8 KiB. */
const BLOCK_WORDS = 1_024

/** Packs the words that spelling correction suggests into blocks, by their length in UTF-16 units. */
export class WordBlocks {
  readonly #byLength: WordsOfLength[] = []

  /** Adds a term if it is such a word. Terms come in byte order. */
  add(term: Bytes, items: number): void {
    const word = spelledWord(term)
    if (word === null) return
    const words = this.#byLength[word.length] ?? new WordsOfLength()
    this.#byLength[word.length] = words
    words.add(word, term, items)
  }

  /** One list for each length, shortest first. */
  finish(): BlockList[] {
    return Object.values(this.#byLength).map(words => words.finish())
  }
}

class WordsOfLength {
  readonly #list = new BlockList()
  readonly #block = createWordsBlockWriter()
  #firstWord = ''

  add(word: string, term: Bytes, items: number): void {
    if (this.#block.words === 0) this.#firstWord = word
    this.#block.add(term, items)
    if (this.#block.words === BLOCK_WORDS) this.#close()
  }

  finish(): BlockList {
    if (this.#block.words > 0) this.#close()
    return this.#list
  }

  #close(): void {
    this.#list.add(spellingKey(this.#firstWord), compress(this.#block.finish()))
  }
}
