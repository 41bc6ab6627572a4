import type { ByteWriter } from './bytes.ts'

/**
 * A posting says in one byte how much a term tells about an item, and where it stands in it.
 * It follows from the item alone, so a file that did not change keeps its postings.
 */

/** Largest impact; the smallest is 1. */
export const IMPACT_MAX = 84

/** Where a term stands in an item: the best of its places. */
export const PLACE = {
  /** Only in the body. */
  body: 0,
  /** In the description, keywords, headings or path. */
  named: 1,
  /** In the title. */
  title: 2,
} as const
export type Place = (typeof PLACE)[keyof typeof PLACE]

export function packPosting(impact: number, place: Place): number {
  return 3 * impact + place
}

export function impactOf(posting: number): number {
  return Math.floor(posting / 3)
}

export function placeOf(posting: number): Place {
  return (posting % 3) as Place
}

const LEAST_POSTING = 3
const LARGEST_POSTING = 3 * IMPACT_MAX + 2

/** Adds one posting to a list: the numbers of items that lie between it and the one before (-1 before the first), then the posting. */
export function writePosting(writer: ByteWriter, previous: number, item: number, posting: number): void {
  writer.varint(item - previous - 1)
  writer.byte(posting)
}

/**
 * Calls back for every posting of a list, by item.
 *
 * @throws RangeError when the bytes are not the postings of `count` of `items` items
 */
export function visitPostings(
  bytes: Uint8Array,
  count: number,
  items: number,
  visit: (item: number, posting: number) => void,
): void {
  const end = bytes.length
  let at = 0
  let item = -1
  for (let left = count; left > 0; left--) {
    let gap = bytes[at++] ?? 0
    // Most gaps take one byte, and none more than five.
    if (gap >= 0x80) {
      gap &= 0x7f
      let scale = 0x80
      let byte: number
      do {
        if (at >= end || scale > LARGEST_SCALE) throw new RangeError('not the number of an item')
        byte = bytes[at++] ?? 0
        gap += (byte & 0x7f) * scale
        scale *= 0x80
      } while (byte >= 0x80)
    }
    item += gap + 1
    const posting = bytes[at++] ?? 0
    if (item >= items || posting < LEAST_POSTING || posting > LARGEST_POSTING) throw new RangeError('not a posting')
    visit(item, posting)
  }
  if (at !== end) throw new RangeError('more or fewer bytes than postings')
}

/** Of the fifth byte of a number. */
const LARGEST_SCALE = 2 ** 28
