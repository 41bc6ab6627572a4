import type { Bytes } from '#core/search/bytes.ts'
import type { ListColumns } from '#core/search/postings.ts'
import { type ListsReader, openTermsBlock } from '#core/search/terms-block.ts'
import type { TextsReader } from '#core/search/texts.ts'

/** Blocks of terms as they are stored (`core/search/terms-block.ts`). */
export interface StoredBlock {
  block: Uint8Array
  /** Lists of more items stand outside of the block. */
  inlineItems: number
  /** The lists that do, from `start` on. */
  outside: { bytes: Uint8Array; start: number }
}

/** The terms of a block, one after another, each with the place of its list. */
export class StoredTerms {
  /** The name of the term at hand, valid until the next. */
  readonly term: Bytes
  /** Where its list lies. */
  bytes: Uint8Array
  readonly list: ListColumns = { gapsStart: 0, gapsEnd: 0, postingsStart: 0, count: 0 }
  readonly #block: Uint8Array
  readonly #outside: StoredBlock['outside']
  readonly #texts: TextsReader
  readonly #lists: ListsReader

  /** @throws RangeError when the bytes are no block of terms */
  constructor({ block, inlineItems, outside }: StoredBlock) {
    const { texts, lists } = openTermsBlock(block, inlineItems)
    this.term = texts.text
    this.bytes = block
    this.#block = block
    this.#outside = outside
    this.#texts = texts
    this.#lists = lists
  }

  /** Whether the list at hand stands in the block. */
  get isInline(): boolean {
    return this.#lists.isInline
  }

  /** Goes on to the next term; whether there is one. @throws RangeError */
  next(): boolean {
    const lists = this.#lists
    if (!this.#texts.next()) {
      lists.end()
      return false
    }
    lists.next()
    const start = lists.isInline ? 0 : this.#outside.start
    this.bytes = lists.isInline ? this.#block : this.#outside.bytes
    this.list.gapsStart = start + lists.gapsStart
    this.list.gapsEnd = start + lists.gapsEnd
    this.list.postingsStart = start + lists.postingsStart
    this.list.count = lists.count
    return true
  }
}
