import { type Bytes, ByteWriter } from '#core/search/bytes.ts'
import { addPosting, createTermPostings, type TermPostings } from '#indexer/search/term-postings.ts'

/** The list of the postings of items as a section has it; by item. */
export function encodePostings(postings: readonly (readonly [item: number, posting: number])[]): Uint8Array {
  const writer = new ByteWriter()
  let previous = -1
  for (const [item] of postings) {
    writer.varint(item - previous - 1)
    previous = item
  }
  for (const [, posting] of postings) writer.byte(posting)
  return writer.finish()
}

/** A term with its postings, by item, as the builder hands it on. */
export function termPostings(term: string, postings: readonly (readonly [item: number, posting: number])[]): TermPostings {
  const target = createTermPostings()
  target.term = bytesOf(term)
  for (const [item, posting] of postings) addPosting(target, item, posting)
  return target
}

export function bytesOf(text: string): Bytes {
  const writer = new ByteWriter()
  writer.utf8(text)
  return writer
}

/** The list of a term as a section has it. */
export function encodedList({ gaps, postings }: TermPostings): Uint8Array {
  const writer = new ByteWriter()
  writer.bytes(gaps.data, 0, gaps.length)
  writer.bytes(postings.data, 0, postings.length)
  return writer.finish()
}
