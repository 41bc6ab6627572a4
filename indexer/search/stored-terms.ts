import { openTermsBlock } from '#core/search/blocks.ts'
import { type ListColumns, visitColumns } from '#core/search/postings.ts'
import { addPosting, clearPostings, type TermPostingsWriter } from './term-postings.ts'

export interface StoredTerms {
  /** A block of terms (`core/search/blocks.ts`). */
  block: Uint8Array
  /** Lists of more items stand outside of the block. */
  inlineItems: number
  /** The lists that do, from `start` on. */
  outside: { bytes: Uint8Array; start: number }
  /** What an item is now, by the number that it has in the block. Those grow; -1: the item is gone. `null`: all are what they were. */
  numbers: Int32Array | null
}

/**
 * The terms of a block that are in an item which is still there: every call puts the next into `target` and says whether there is one.
 *
 * @throws RangeError when the bytes are no block of terms
 */
export function openStoredTerms(
  { block, inlineItems, outside, numbers }: StoredTerms,
  target: TermPostingsWriter,
): () => boolean {
  const { texts, lists } = openTermsBlock(block, inlineItems)
  target.term = texts.text
  const items = numbers?.length ?? Number.POSITIVE_INFINITY
  const addMoved = (item: number, posting: number) => {
    const number = numbers === null ? item : (numbers[item] as number)
    if (number >= 0) addPosting(target, number, posting)
  }
  return () => {
    while (texts.next()) {
      lists.next()
      clearPostings(target)
      if (lists.isInline) visitColumns(block, lists, items, addMoved)
      else visitColumns(outside.bytes, listsBehind(lists, outside.start), items, addMoved)
      if (target.items > 0) return true
    }
    lists.end()
    return false
  }
}

/** The columns of a list that stands outside, by their places there. */
function listsBehind({ gapsStart, gapsEnd, postingsStart, count }: ListColumns, start: number): ListColumns {
  return { gapsStart: start + gapsStart, gapsEnd: start + gapsEnd, postingsStart: start + postingsStart, count }
}
