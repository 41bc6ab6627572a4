import { type Bytes, textOf } from '#core/search/bytes.ts'
import { currentList, type FoundTerm, openTermsBlock } from '#core/search/terms-block.ts'
import { openWordsBlock, type SpellingEntry } from '#core/search/words-block.ts'
import { encodeText } from '#core/text.ts'

/** Looks through blocks of terms and of words (`core/search/terms-block.ts`, `words-block.ts`) without making a text of every one in them. */

/** One term, or those that begin with it as well. */
export interface TermWish {
  term: string
  orLonger: boolean
}

/**
 * The terms of a block that answer a wish, in byte order.
 *
 * @throws RangeError or TypeError when the bytes are no block of terms
 */
export function findTerms(block: Uint8Array, { term, orLonger }: TermWish): FoundTerm[] {
  const bytes = encodeText(term)
  const found: FoundTerm[] = []
  const { texts, lists } = openTermsBlock(block)
  const steps = texts.seek(bytes)
  if (steps > 0) lists.pass(steps)
  for (let isTerm = steps > 0; isTerm && compareStart(texts.text, bytes) === 0; isTerm = texts.next()) {
    if (found.length > 0) lists.next()
    if (!orLonger && texts.text.length > bytes.length) break
    found.push({ term: textOf(texts.text), items: lists.count, postings: currentList(block, lists) })
  }
  return found
}

/**
 * The words of a block that may lie so many edits from the word, or continue it: all that do, and few others.
 *
 * @throws RangeError or TypeError when the bytes are no block of words
 */
export function findNearWords(block: Uint8Array, word: string, edits: number): SpellingEntry[] {
  const bytes = encodeText(word)
  const letters = lettersOf({ data: bytes, length: bytes.length })
  const found: SpellingEntry[] = []
  const { texts, counts } = openWordsBlock(block)
  while (texts.next()) {
    const items = counts.varint()
    // An edit takes one letter away at most, and adds one.
    const isNear = countBits(letters ^ lettersOf(texts.text)) <= 2 * edits
    if (isNear || compareStart(texts.text, bytes) === 0) found.push({ word: textOf(texts.text), items })
  }
  return found
}

/** 0 when the text begins with the bytes, else how it stands to them in byte order. */
function compareStart({ data, length }: Bytes, start: Uint8Array): number {
  for (let index = 0; index < start.length; index++) {
    if (index === length) return -1
    const order = (data[index] ?? 0) - (start[index] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

/** One bit for every ASCII letter that stands in the text; some share one. */
function lettersOf({ data, length }: Bytes): number {
  let letters = 0
  for (let index = 0; index < length; index++) {
    const byte = data[index] ?? 0
    if (byte < 0x80) letters |= 1 << (byte & 31)
  }
  return letters
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
