import type { Bytes } from '#core/search/bytes.ts'
import type { ListColumns } from '#core/search/postings.ts'
import { type ListsReader, openTermsBlock } from '#core/search/terms-block.ts'
import type { TextsReader } from '#core/search/texts.ts'

/** A stored block of terms (`core/search/terms-block.ts`). */
export interface StoredBlock {
  block: Uint8Array
  /** Lists of more items lie outside the block. */
  inlineItems: number
  /** The bytes with these lists, from `start` on. */
  outside: { bytes: Uint8Array; start: number }
}

/** Iterates over the terms of a block, each with the location of its list. */
export class StoredTerms {
  /** The name of the current term, valid until `next`. */
  readonly term: Bytes
  /** The bytes that hold its list. */
  bytes: Uint8Array
  readonly list: ListColumns = { gapsStart: 0, gapsEnd: 0, postingsStart: 0, count: 0 }
  readonly #block: Uint8Array
  readonly #outside: StoredBlock['outside']
  readonly #texts: TextsReader
  readonly #lists: ListsReader

  /** @throws FormatError when the bytes are not a block of terms */
  constructor({ block, inlineItems, outside }: StoredBlock) {
    const { texts, lists } = openTermsBlock(block, inlineItems)
    this.term = texts.text
    this.bytes = block
    this.#block = block
    this.#outside = outside
    this.#texts = texts
    this.#lists = lists
  }

  /** Whether the current list lies in the block. */
  get isInline(): boolean {
    return this.#lists.isInline
  }

  /** Moves to the next term; `false` at the end. @throws FormatError when the block is damaged */
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
