import { z } from 'zod'
import { Location } from '../snapshot/format.ts'
import { encodeText } from '../text.ts'
import { textOfBytes } from './bytes.ts'

/** Items of a block; the last one may have fewer. */
export const BLOCK_ITEMS = 32

/** What is shown of an item. */
export const StoredItem = z.object({
  path: z.string(),
  title: z.string(),
  summary: z.string(),
  /** The record of its text, when its body is searched: passages are taken from it. */
  text: Location.nullable(),
})
export type StoredItem = z.infer<typeof StoredItem>

const ItemsBlock = z.array(z.unknown()).min(1).max(BLOCK_ITEMS)

/** One block of at most `BLOCK_ITEMS` items, in the order of their numbers. */
export function writeItemsBlock(items: readonly StoredItem[]): Uint8Array {
  return encodeText(JSON.stringify(items.map(({ path, title, summary, text }) => ({ path, title, summary, text }))))
}

/** A block of items, of which mostly one is wanted: none is checked before it is asked for. */
export interface ItemsBlockReader {
  /** How many there are. */
  readonly items: number
  /** @throws ZodError when it is no item, or not there */
  at(place: number): StoredItem
}

/** @throws SyntaxError or ZodError when the bytes are no block of items */
export function openItemsBlock(block: Uint8Array): ItemsBlockReader {
  const items = ItemsBlock.parse(JSON.parse(textOfBytes(block)))
  return { items: items.length, at: place => StoredItem.parse(items[place]) }
}
