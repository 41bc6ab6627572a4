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

/**
 * Calls back for every posting of a list, by item. A list has the gap in front of every item, which is the number of items between it and
 * the one before, as varints; then a posting for each.
 *
 * @throws RangeError when the bytes are not the postings of `count` of `items` items
 */
export function visitPostings(list: Uint8Array, count: number, items: number, visit: VisitPosting): void {
  const gapsEnd = list.length - count
  visitColumns(list, { gapsStart: 0, gapsEnd, postingsStart: gapsEnd, count }, items, visit)
}

export type VisitPosting = (item: number, posting: number) => void

/** Where the two halves of a list lie, which need not be neighbours. */
export interface ListColumns {
  gapsStart: number
  gapsEnd: number
  postingsStart: number
  count: number
}

/** The same for a list of which the halves lie somewhere. */
export function visitColumns(
  bytes: Uint8Array,
  { gapsStart, gapsEnd, postingsStart, count }: ListColumns,
  items: number,
  visit: VisitPosting,
): void {
  let at = gapsStart
  let item = -1
  for (let index = 0; index < count; index++) {
    if (at >= gapsEnd) throw new RangeError('fewer gaps than postings')
    let gap = bytes[at++] as number
    // Most gaps take one byte, and none more than five.
    if (gap >= 0x80) {
      gap &= 0x7f
      let scale = 0x80
      let byte: number
      do {
        if (at >= gapsEnd || scale > LARGEST_SCALE) throw new RangeError('not the number of an item')
        byte = bytes[at++] as number
        gap += (byte & 0x7f) * scale
        scale *= 0x80
      } while (byte >= 0x80)
    }
    item += gap + 1
    const posting = bytes[postingsStart + index] ?? 0
    if (item >= items || !isPosting(posting)) throw new RangeError('not a posting')
    visit(item, posting)
  }
  if (at !== gapsEnd) throw new RangeError('more gaps than postings')
}

/** Of the fifth byte of a number. */
const LARGEST_SCALE = 2 ** 28

export function isPosting(byte: number): boolean {
  return byte >= LEAST_POSTING && byte <= LARGEST_POSTING
}
