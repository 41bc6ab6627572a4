import { BLOCK_ITEMS, type StoredItem, writeItemsBlock } from '#core/search/items-block.ts'
import { BlockList } from './block-list.ts'
import { compress } from './compress.ts'
import type { PreviousSection } from './previous.ts'

/** Packs items into blocks of `BLOCK_ITEMS`. */
export class ItemBlocks {
  readonly #previous: Pick<PreviousSection, 'itemsBlock'> | null
  readonly #list = new BlockList()
  #items: StoredItem[] = []

  /** @param previous unchanged blocks are taken from there: compressing them takes most of the time */
  constructor(previous: Pick<PreviousSection, 'itemsBlock'> | null) {
    this.#previous = previous
  }

  add(item: StoredItem): void {
    if (this.#items.push(item) === BLOCK_ITEMS) this.#close()
  }

  finish(): BlockList {
    if (this.#items.length > 0) this.#close()
    return this.#list
  }

  #close(): void {
    const firstPath = this.#items[0]?.path ?? ''
    const block = writeItemsBlock(this.#items)
    this.#list.add(firstPath, this.#previous?.itemsBlock(firstPath, block) ?? compress(block))
    this.#items = []
  }
}
