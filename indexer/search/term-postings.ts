import { ByteReader, type Bytes, ByteWriter, VARINT_BYTES, varintBytes } from '#core/search/bytes.ts'
import { isPosting, type ListColumns, PLACE, placeOf } from '#core/search/postings.ts'
import type { TermList } from '#core/search/terms-block.ts'
import { FormatError } from '#core/snapshot/damage.ts'

/** The postings of a term. */
export interface TermPostings extends TermList {
  /** Whether it occurs outside the body of at least one item. */
  readonly isNamed: boolean
  readonly first: number
  readonly last: number
}

/** Appends a list to `gaps` and `postings`. */
export interface ListWriter {
  readonly gaps: ByteWriter
  readonly postings: ByteWriter
  items: number
  isNamed: boolean
  /** -1 while the list is empty. */
  first: number
  last: number
}

/** Reused for one term after another, since there are many and most are short. */
export interface TermPostingsWriter extends ListWriter {
  term: Bytes
}

export function createTermPostings(): TermPostingsWriter {
  return { term: NO_TERM, ...createListWriter(new ByteWriter(), new ByteWriter()) }
}

export function createListWriter(gaps: ByteWriter, postings: ByteWriter): ListWriter {
  return { gaps, postings, items: 0, isNamed: false, first: -1, last: -1 }
}

const NO_TERM: Bytes = new ByteWriter(0)

/** Begins a new list after the bytes of the previous one. */
export function beginList(target: ListWriter): void {
  target.items = 0
  target.isNamed = false
  target.first = -1
  target.last = -1
}

/** Clears the postings and keeps the term. */
export function clearPostings(target: TermPostingsWriter): void {
  beginList(target)
  target.gaps.cut(0)
  target.postings.cut(0)
}

/** Appends a posting. */
export function addPosting(target: ListWriter, item: number, posting: number): void {
  if (target.items === 0) target.first = item
  target.gaps.varint(item - target.last - 1)
  target.postings.byte(posting)
  if (placeOf(posting) !== PLACE.body) target.isNamed = true
  target.last = item
  target.items++
}

/**
 * Appends the postings of a stored list with the new numbers of their items. Nearly all postings of a commit pass through it, hence one loop
 * without calls.
 *
 * @param numbers the new number of each item, growing; -1 drops the item. `null` keeps all numbers
 * @throws FormatError when the bytes are not a list of `count` postings
 */
export function addRenumbered(
  target: ListWriter,
  bytes: Uint8Array,
  { gapsStart, gapsEnd, postingsStart, count }: ListColumns,
  numbers: Int32Array | null,
): void {
  const { gaps, postings } = target
  const gapsData = gaps.reserved(count * VARINT_BYTES)
  const postingsData = postings.reserved(count)
  let gapsLength = gaps.length
  let postingsLength = postings.length
  let { items, first, last, isNamed } = target
  let at = gapsStart
  let item = -1
  for (let index = 0; index < count; index++) {
    let shift = 0
    let byte: number
    let gap = 0
    do {
      if (at >= gapsEnd || shift > LARGEST_SHIFT) throw new FormatError('not the number of an item')
      byte = bytes[at++] as number
      gap |= (byte & 0x7f) << shift
      shift += 7
    } while (byte >= 0x80)
    item += gap + 1
    const posting = bytes[postingsStart + index] as number
    const number = numbers === null ? item : numbers[item]
    if (number === undefined || gap < 0 || !isPosting(posting)) throw new FormatError('not a posting')
    if (number < 0) continue
    if (items === 0) first = number
    let rest = number - last - 1
    for (; rest >= 0x80; rest >>>= 7) gapsData[gapsLength++] = (rest & 0x7f) | 0x80
    gapsData[gapsLength++] = rest
    postingsData[postingsLength++] = posting
    items++
    isNamed ||= placeOf(posting) !== PLACE.body
    last = number
  }
  if (at !== gapsEnd) throw new FormatError('more gaps than postings')
  gaps.length = gapsLength
  postings.length = postingsLength
  target.items = items
  target.first = first
  target.last = last
  target.isNamed = isNamed
}

/** The shift of the fifth byte of a varint. */
const LARGEST_SHIFT = 28

/** Compares the names of terms by bytes. */
export function compareTerms(left: Bytes, right: Bytes): number {
  const length = Math.min(left.length, right.length)
  const { data } = left
  const { data: other } = right
  for (let at = 0; at < length; at++) {
    const difference = (data[at] as number) - (other[at] as number)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** Concatenates the lists of one term. The items of each list come after those of the list before. Valid as long as the term of the first part. */
export function chain(parts: readonly TermPostings[], target: TermPostingsWriter): TermPostings {
  clearPostings(target)
  target.term = (parts[0] as TermPostings).term
  for (const { items, isNamed, first, last, gaps, postings } of parts) {
    if (target.items === 0) target.first = first
    target.gaps.varint(first - target.last - 1)
    target.gaps.bytes(gaps.data, varintBytes(first), gaps.length)
    target.postings.bytes(postings.data, 0, postings.length)
    target.items += items
    target.isNamed ||= isNamed
    target.last = last
  }
  return target
}

/** Merges two lists of one term whose items may interleave. */
export function interleave(left: TermPostings, right: TermPostings, target: TermPostingsWriter): TermPostings {
  clearPostings(target)
  target.term = left.term
  target.isNamed = left.isNamed || right.isNamed
  const one = new Slices(left)
  const other = new Slices(right)
  while (one.item < NO_ITEM || other.item < NO_ITEM) {
    one.moveBefore(other.item, target)
    other.moveBefore(one.item, target)
  }
  return target
}

const NO_ITEM = Number.POSITIVE_INFINITY

/** Reads a list in slices: neighbouring postings are copied together. */
class Slices {
  /** The next item; `NO_ITEM` after the last. */
  item: number
  readonly #list: TermPostings
  readonly #gaps: ByteReader
  #taken = 0

  constructor(list: TermPostings) {
    this.item = list.first
    this.#list = list
    this.#gaps = new ByteReader(list.gaps.data, varintBytes(list.first), list.gaps.length)
  }

  /** Appends to the target the remaining postings of items before `border`. */
  moveBefore(border: number, target: TermPostingsWriter): void {
    if (this.item >= border) return
    const { items, gaps, postings } = this.#list
    const start = this.#taken
    const gapsStart = this.#gaps.position
    let gapsEnd = gapsStart
    if (target.items === 0) target.first = this.item
    target.gaps.varint(this.item - target.last - 1)
    while (this.item < border) {
      target.last = this.item
      gapsEnd = this.#gaps.position
      this.#taken++
      this.item = this.#taken === items ? NO_ITEM : this.item + this.#gaps.varint() + 1
    }
    target.gaps.bytes(gaps.data, gapsStart, gapsEnd)
    target.postings.bytes(postings.data, start, this.#taken)
    target.items += this.#taken - start
  }
}
