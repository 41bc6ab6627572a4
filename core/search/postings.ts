import { FormatError } from '../snapshot/damage.ts'

/**
 * A posting is one byte: the impact of a term on an item, and the best place where it occurs.
 * It depends on the item alone, so an unchanged file keeps its postings.
 */

/** Largest impact; the smallest is 1. */
export const IMPACT_MAX = 84

/** The best place where a term occurs in an item. */
export const PLACE = {
  /** Only in the body. */
  body: 0,
  /** In the description, keywords, headings or path: the short fields besides the title. */
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
 * Calls `visit` for every posting of a list, by item. A list has a varint for each item, the number of items between it and the previous one;
 * then a posting for each.
 *
 * @throws FormatError when the bytes are not a list of `count` postings of at most `items` items
 */
export function visitPostings(list: Uint8Array, count: number, items: number, visit: VisitPosting): void {
  const gapsEnd = list.length - count
  visitColumns(list, { gapsStart: 0, gapsEnd, postingsStart: gapsEnd, count }, items, visit)
}

export type VisitPosting = (item: number, posting: number) => void

/** The positions of the two halves of a list, which need not be adjacent. */
export interface ListColumns {
  gapsStart: number
  gapsEnd: number
  postingsStart: number
  count: number
}

/** As `visitPostings`, for a list whose halves are apart. */
export function visitColumns(
  bytes: Uint8Array,
  { gapsStart, gapsEnd, postingsStart, count }: ListColumns,
  items: number,
  visit: VisitPosting,
): void {
  let at = gapsStart
  let item = -1
  for (let index = 0; index < count; index++) {
    if (at >= gapsEnd) throw new FormatError('fewer gaps than postings')
    let gap = bytes[at++] as number
    // Most gaps take one byte, the largest five.
    if (gap >= 0x80) {
      gap &= 0x7f
      let scale = 0x80
      let byte: number
      do {
        if (at >= gapsEnd || scale > LARGEST_SCALE) throw new FormatError('not the number of an item')
        byte = bytes[at++] as number
        gap += (byte & 0x7f) * scale
        scale *= 0x80
      } while (byte >= 0x80)
    }
    item += gap + 1
    const posting = bytes[postingsStart + index] ?? 0
    if (item >= items || !isPosting(posting)) throw new FormatError('not a posting')
    visit(item, posting)
  }
  if (at !== gapsEnd) throw new FormatError('more gaps than postings')
}

/** The scale of the fifth byte of a varint. */
const LARGEST_SCALE = 2 ** 28

export function isPosting(byte: number): boolean {
  return byte >= LEAST_POSTING && byte <= LARGEST_POSTING
}
