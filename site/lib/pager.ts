/** Where a page of a list lies: its cursor, and those of the pages before it, which its URL carries since a cursor leads forward only. */
export interface ListPlace {
  cursor: string | undefined
  /** Cursors of the pages before, `FIRST_PAGE` for the first one. Far from it, the earliest are left out. */
  back: readonly string[]
}

export const FIRST_PAGE = 'first'
/** So many pages back the URL leads; it stays below 4 kB. */
const PAGES_BACK = 12
const CURSOR = /^[\w.~-]{1,300}$/

/** The cursors of the pages before, as the query spells them. A spelling that is none counts as absent. */
export function readBack(text: string | null): string[] {
  const back = text === null || text === '' ? [] : text.split(',')
  return back.length <= PAGES_BACK && back.every(cursor => CURSOR.test(cursor)) ? back : []
}

/** Which entries of a list are on a page, from 1. */
export interface ListRange {
  from: number
  to: number
  /** Of the whole list, if it is known. */
  all?: number
  /** The list has more than `all`. */
  hasMore?: boolean
}

/** The number of the first entry of a page, from 1; `null` where the URL does not lead back to the first page. */
export function startOf({ cursor, back }: ListPlace, pageEntries: number): number | null {
  if (cursor === undefined) return 1
  return back[0] === FIRST_PAGE ? back.length * pageEntries + 1 : null
}

/** The place of the next page. */
export function placeAfter({ cursor, back }: ListPlace, nextCursor: string): ListPlace {
  return { cursor: nextCursor, back: [...back, cursor ?? FIRST_PAGE].slice(-PAGES_BACK) }
}

/** The place of the page before; `null` on the first page, and where the URL does not say. */
export function placeBefore({ back }: ListPlace): ListPlace | null {
  const before = back.at(-1)
  if (before === undefined) return null
  return { cursor: before === FIRST_PAGE ? undefined : before, back: back.slice(0, -1) }
}
