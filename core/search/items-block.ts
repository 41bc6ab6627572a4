import { z } from 'zod'
import { parseStoredJson } from '../snapshot/damage.ts'
import { Location } from '../snapshot/format.ts'
import { encodeText } from '../text.ts'
import { textOfBytes } from './bytes.ts'

/** Items of a block; the last one may have fewer. */
export const BLOCK_ITEMS = 32

/** The data of an item that results show. */
export const StoredItem = z.object({
  path: z.string(),
  title: z.string(),
  summary: z.string(),
  /** The record of its text, if results may quote passages; else `null`. */
  text: Location.nullable(),
})
export type StoredItem = z.infer<typeof StoredItem>

const ItemsBlock = z.array(z.unknown()).min(1).max(BLOCK_ITEMS)

/** One block of at most `BLOCK_ITEMS` items, in the order of their numbers. */
export function writeItemsBlock(items: readonly StoredItem[]): Uint8Array {
  return encodeText(JSON.stringify(items.map(({ path, title, summary, text }) => ({ path, title, summary, text }))))
}

/** Reads a block of items. Each item is validated when it is read, since most reads need one. */
export interface ItemsBlockReader {
  /** The number of items. */
  readonly items: number
  /** The item at an index. @throws ZodError when it is invalid or missing */
  at(index: number): StoredItem
}

/** @throws FormatError or ZodError when the bytes are not a block of items */
export function openItemsBlock(block: Uint8Array): ItemsBlockReader {
  const items = ItemsBlock.parse(parseStoredJson(textOfBytes(block)))
  return { items: items.length, at: index => StoredItem.parse(items[index]) }
}
