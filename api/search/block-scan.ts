import { type Bytes, textOf } from '#core/search/bytes.ts'
import { currentList, type FoundTerm, openTermsBlock } from '#core/search/terms-block.ts'
import { openWordsBlock, type SpellingEntry } from '#core/search/words-block.ts'
import { encodeText } from '#core/text.ts'

/* Searches blocks of terms and of words (`core/search/terms-block.ts`, `words-block.ts`), and decodes only the entries that match. */

/** A term to look up. */
export interface TermWish {
  term: string
  /** Longer terms that begin with it are accepted too. */
  orLonger: boolean
}

/**
 * The terms of a block that match a wish, in byte order.
 *
 * @throws FormatError or TypeError when the bytes are not a block of terms
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
 * The words of a block that begin with `word` or lie within so many edits of it, and a few more: letters are compared as sets.
 *
 * @throws FormatError or TypeError when the bytes are not a block of words
 */
export function findNearWords(block: Uint8Array, word: string, edits: number): SpellingEntry[] {
  const bytes = encodeText(word)
  const letters = lettersOf({ data: bytes, length: bytes.length })
  const found: SpellingEntry[] = []
  const { texts, counts } = openWordsBlock(block)
  while (texts.next()) {
    const items = counts.varint()
    // An edit removes at most one letter and adds at most one.
    const isNear = countBits(letters ^ lettersOf(texts.text)) <= 2 * edits
    if (isNear || compareStart(texts.text, bytes) === 0) found.push({ word: textOf(texts.text), items })
  }
  return found
}

/** Compares in byte order; 0 when the text begins with `start`. */
function compareStart({ data, length }: Bytes, start: Uint8Array): number {
  for (let index = 0; index < start.length; index++) {
    if (index === length) return -1
    const order = (data[index] ?? 0) - (start[index] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

/** The ASCII characters of the text as a set of bits. Some characters share a bit. */
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
