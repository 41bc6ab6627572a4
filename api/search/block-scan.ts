import { type FoundTerm, INLINE_BYTES, type SpellingEntry } from '#core/search/blocks.ts'
import { type ByteReader, createByteReader, textOfBytes } from '#core/search/bytes.ts'
import { encodeText } from '#core/text.ts'

/** Looks through blocks of terms and of words (`core/search/blocks.ts`) without making a text of every one in them. */

/** One term, or those that begin with it as well. */
export interface TermWish {
  term: string
  orLonger: boolean
}

/**
 * The terms of a block that answer a wish, in byte order. The views of postings stay valid as long as the block.
 *
 * @throws RangeError or TypeError when the bytes are no block of terms
 */
export function findTerms(block: Uint8Array, { term, orLonger }: TermWish): FoundTerm[] {
  const bytes = encodeText(term)
  const found: FoundTerm[] = []
  const reader = createByteReader(block)
  const text = createText()
  let offset = 0
  while (!reader.atEnd) {
    text.read(reader)
    const items = reader.varint()
    const length = reader.varint()
    const isInline = length <= INLINE_BYTES
    const start = reader.position
    if (isInline) skip(reader, length)
    const order = text.compareStart(bytes)
    if (order > 0) break
    if (order === 0 && (orLonger || text.length === bytes.length)) {
      found.push({ term: text.toString(), items, postings: isInline ? block.subarray(start, start + length) : length, offset })
    }
    if (!isInline) offset += length
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
  const letters = lettersOf(bytes, bytes.length)
  const found: SpellingEntry[] = []
  const reader = createByteReader(block)
  const text = createText()
  while (!reader.atEnd) {
    text.read(reader)
    const items = reader.varint()
    // An edit takes one letter away at most, and adds one.
    const isNear = countBits(letters ^ lettersOf(text.bytes, text.length)) <= 2 * edits
    if (isNear || text.compareStart(bytes) === 0) found.push({ word: text.toString(), items })
  }
  return found
}

// Views of bytes cost more than the few bytes that they are of.
function skip(reader: ByteReader, length: number): void {
  for (let left = length; left > 0; left--) reader.byte()
}

/** More than any term takes: a damaged number asks for no memory. */
const TEXT_BYTES = 64 * 1024

/** The text at hand of a block, in which each is written as it differs from the one before. */
function createText() {
  let bytes = new Uint8Array(256)
  let length = 0
  return {
    /** Longer than the text. */
    get bytes() {
      return bytes
    },
    get length() {
      return length
    },
    read(reader: ByteReader): void {
      const shared = reader.varint()
      const more = reader.varint()
      if (shared > length) throw new RangeError('a text shares more than there is')
      length = shared + more
      if (length > bytes.length) {
        if (length > TEXT_BYTES) throw new RangeError('a text is too long')
        const longer = new Uint8Array(2 * length)
        longer.set(bytes)
        bytes = longer
      }
      for (let index = shared; index < length; index++) bytes[index] = reader.byte()
    },
    /** 0 when the text begins with the bytes, else how it stands to them in byte order. */
    compareStart(start: Uint8Array): number {
      for (let index = 0; index < start.length; index++) {
        if (index === length) return -1
        const order = (bytes[index] ?? 0) - (start[index] ?? 0)
        if (order !== 0) return order
      }
      return 0
    },
    toString: () => textOfBytes(bytes.subarray(0, length)),
  }
}

/** One bit for every ASCII letter that stands in the text; some share one. */
function lettersOf(bytes: Uint8Array, length: number): number {
  let letters = 0
  for (let index = 0; index < length; index++) {
    const byte = bytes[index] ?? 0
    if (byte < 0x80) letters |= 1 << (byte & 31)
  }
  return letters
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
