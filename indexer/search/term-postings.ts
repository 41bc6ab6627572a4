import { type ByteReader, type ByteWriter, createByteReader, createByteWriter } from '#core/search/bytes.ts'
import { writePosting } from '#core/search/postings.ts'

/** What a term tells about some items. */
export interface TermPostings {
  /** In UTF-8. */
  term: Uint8Array
  /** How many items these are. */
  items: number
  /** Whether it stands outside the body of one of them. */
  isNamed: boolean
  first: number
  last: number
  /** The list of postings (`core/search/postings.ts`) without its first number, which is `first`: so lists can be put behind another. */
  rest: Uint8Array
}

/** The list of postings, as a section has it. */
export function writeList(writer: ByteWriter, { first, rest }: TermPostings): void {
  writer.varint(first)
  writer.bytes(rest)
}

/** Joins the postings of one term. Those of each part lie behind those of the part before, but for the last, whose may lie anywhere. */
export function joinPostings(parts: readonly TermPostings[]): TermPostings {
  const [first] = parts as [TermPostings]
  const last = parts.at(-1) as TermPostings
  const before = parts.at(-2)
  if (!before) return first
  if (last.first > before.last) return chained(parts)
  return interleaved(parts.length === 2 ? before : chained(parts.slice(0, -1)), last)
}

function chained(parts: readonly TermPostings[]): TermPostings {
  const [first, ...others] = parts as [TermPostings, ...TermPostings[]]
  const writer = createByteWriter(parts.reduce((bytes, { rest }) => bytes + rest.length + 5, 0))
  writer.bytes(first.rest)
  let { items, isNamed, last } = first
  for (const part of others) {
    writer.varint(part.first - last - 1)
    writer.bytes(part.rest)
    items += part.items
    isNamed ||= part.isNamed
    last = part.last
  }
  return { term: first.term, items, isNamed, first: first.first, last, rest: writer.finish() }
}

function interleaved(left: TermPostings, right: TermPostings): TermPostings {
  const writer = createByteWriter(left.rest.length + right.rest.length + 10)
  const first = Math.min(left.first, right.first)
  const one = createCursor(left)
  const other = createCursor(right)
  let last = first
  for (;;) {
    const cursor = one.item < other.item ? one : other
    if (cursor.item === Number.POSITIVE_INFINITY) break
    if (writer.length === 0) writer.byte(cursor.posting)
    else writePosting(writer, last, cursor.item, cursor.posting)
    last = cursor.item
    cursor.next()
  }
  const isNamed = left.isNamed || right.isNamed
  return { term: left.term, items: left.items + right.items, isNamed, first, last, rest: writer.finish() }
}

interface Cursor {
  /** Behind the last: infinity. */
  item: number
  posting: number
  next(): void
}

function createCursor({ first, rest }: TermPostings): Cursor {
  const reader: ByteReader = createByteReader(rest)
  const cursor: Cursor = {
    item: first,
    posting: reader.byte(),
    next() {
      if (reader.atEnd) {
        cursor.item = Number.POSITIVE_INFINITY
        return
      }
      cursor.item += reader.varint() + 1
      cursor.posting = reader.byte()
    },
  }
  return cursor
}
