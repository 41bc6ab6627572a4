import type { TermList } from '#core/search/blocks.ts'
import { ByteReader, type Bytes, ByteWriter } from '#core/search/bytes.ts'
import { PLACE, placeOf } from '#core/search/postings.ts'

/** What a term tells about some items. */
export interface TermPostings extends TermList {
  /** Whether it stands outside the body of one of them. */
  readonly isNamed: boolean
  readonly last: number
}

/** One that is filled again and again: terms are many, and most are short. */
export interface TermPostingsWriter extends TermPostings {
  term: Bytes
  readonly gaps: ByteWriter
  readonly postings: ByteWriter
  items: number
  isNamed: boolean
  first: number
  last: number
}

export function createTermPostings(): TermPostingsWriter {
  const [gaps, postings] = [new ByteWriter(), new ByteWriter()]
  return { term: NO_TERM, gaps, postings, items: 0, isNamed: false, first: -1, last: -1 }
}

const NO_TERM: Bytes = new ByteWriter(0)

/** Forgets the postings, not the term. */
export function clearPostings(target: TermPostingsWriter): void {
  target.items = 0
  target.isNamed = false
  target.first = -1
  target.last = -1
  target.gaps.cut(0)
  target.postings.cut(0)
}

/** Adds a posting behind the others. */
export function addPosting(target: TermPostingsWriter, item: number, posting: number): void {
  if (target.items === 0) target.first = item
  else target.gaps.varint(item - target.last - 1)
  target.postings.byte(posting)
  if (placeOf(posting) !== PLACE.body) target.isNamed = true
  target.last = item
  target.items++
}

/**
 * Joins the postings of one term. Those of each part lie behind those of the part before, but for the last, whose may lie anywhere.
 * What it gives is valid as long as the parts, and until the next ones are joined.
 */
export function createJoiner(): (parts: readonly TermPostings[]) => TermPostings {
  const behind = createTermPostings()
  const joined = createTermPostings()
  return parts => {
    const last = parts.at(-1) as TermPostings
    const before = parts.at(-2)
    if (!before) return last
    if (last.first > before.last) return chain(parts, joined)
    return interleave(parts.length === 2 ? before : chain(parts.slice(0, -1), behind), last, joined)
  }
}

function chain(parts: readonly TermPostings[], target: TermPostingsWriter): TermPostings {
  clearPostings(target)
  target.term = (parts[0] as TermPostings).term
  for (const { items, isNamed, first, last, gaps, postings } of parts) {
    if (target.items === 0) target.first = first
    else target.gaps.varint(first - target.last - 1)
    target.gaps.bytes(gaps.data, 0, gaps.length)
    target.postings.bytes(postings.data, 0, postings.length)
    target.items += items
    target.isNamed ||= isNamed
    target.last = last
  }
  return target
}

function interleave(left: TermPostings, right: TermPostings, target: TermPostingsWriter): TermPostings {
  clearPostings(target)
  target.term = left.term
  const one = createCursor(left)
  const other = createCursor(right)
  for (;;) {
    const cursor = one.item < other.item ? one : other
    if (cursor.item === Number.POSITIVE_INFINITY) return target
    addPosting(target, cursor.item, cursor.posting)
    cursor.next()
  }
}

interface Cursor {
  /** Behind the last: infinity. */
  item: number
  posting: number
  next(): void
}

function createCursor({ items, first, gaps, postings }: TermPostings): Cursor {
  const reader = new ByteReader(gaps.data, 0, gaps.length)
  let index = 0
  const cursor: Cursor = {
    item: first,
    posting: postings.data[0] as number,
    next() {
      index++
      cursor.item = index === items ? Number.POSITIVE_INFINITY : cursor.item + reader.varint() + 1
      cursor.posting = postings.data[index] as number
    },
  }
  return cursor
}
