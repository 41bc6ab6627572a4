import { FIND_FOLDED_FILES } from '#core/limits.ts'
import { ITEM_KIND, type SearchHead } from '#core/search/head.ts'
import { lastIndexWhere } from '../snapshot/bisect.ts'
import type { Ranking } from './ranking.ts'

/** Numbers of items: from the first up to, not including, the second. */
export type Interval = readonly [from: number, to: number]

/** One result: a skill with its members that match, or a document. */
export interface FoundUnit {
  /** The number of the skill, or of the document. */
  item: number
  /** Matching files of the skill besides its `SKILL.md`, best first; at most `FIND_FOLDED_FILES`. */
  files: number[]
  /** How many more files match. */
  moreFiles: number
}

export interface Page {
  /** Items below the mount. A skill outside is not in the mount: its Markdown files below answer as documents, its other files not at all. */
  mounted: Interval
  /** Items below the folder that is searched, inside the mount. A skill in the mount answers for its files here. */
  visible: Interval
  /** How many results stand before the page. */
  offset: number
  /** How many results the page has at most. */
  limit: number
}

export interface FoundPage {
  units: FoundUnit[]
  hasMore: boolean
}

/**
 * Cuts one page of results out of a ranking, best first: a skill takes the place of its best member; equal ones stand in the order
 * of their best members. Pages joined are the whole list, wherever they are cut.
 *
 * Only what the pages so far show is put in order: of the rest, scores are counted. Uses up the scratch of the ranking.
 */
export function foldPage(
  { scores, scratch, matched }: Ranking,
  head: Pick<SearchHead, 'kinds' | 'owners'>,
  { mounted, visible, offset, limit }: Page,
): FoundPage {
  const unitOf = unitsBelow(head, mounted)
  const members = itemsOf(matched, visible)

  const found: number[] = []
  const bests = scratch.fill(0)
  for (let index = 0; index < members.length; index++) {
    const item = members[index] as number
    const unit = unitOf(item)
    if (unit < 0) continue
    const score = scores[item] ?? 0
    const before = bests[unit] ?? 0
    if (before === 0) found.push(unit)
    if (score > before) bests[unit] = score
  }

  const wanted = offset + limit + 1
  const { score: last, above } = scoreOfPlace(bests, found, wanted)
  const ranked: { unit: number; score: number; member: number }[] = []
  let room = wanted - above
  for (let index = 0; index < members.length; index++) {
    const member = members[index] as number
    const score = scores[member] ?? 0
    if (score < last) continue
    const unit = unitOf(member)
    if (unit < 0 || bests[unit] !== score) continue
    if (score === last && room-- <= 0) continue
    bests[unit] = 0
    ranked.push({ unit, score, member })
  }
  ranked.sort((left, right) => right.score - left.score || left.member - right.member)
  const page = ranked.slice(offset, offset + limit)
  const units = page.map(({ unit }) => ({ item: unit, files: [], moreFiles: 0 }))
  collectFiles(units, { scores, bests }, unitOf, members)
  return { units, hasMore: ranked.length === wanted }
}

/** Those of an interval, of items in order. */
function itemsOf(items: Uint32Array, [from, to]: Interval): Uint32Array {
  const placeOf = (item: number) => lastIndexWhere(items.length, index => (items[index] ?? 0) < item) + 1
  return items.subarray(placeOf(from), placeOf(to))
}

/** The result that an item belongs to; -1 for none. */
function unitsBelow({ kinds, owners }: Pick<SearchHead, 'kinds' | 'owners'>, [from, to]: Interval): (item: number) => number {
  return item => {
    const kind = kinds[item]
    if (kind === ITEM_KIND.document || kind === ITEM_KIND.skill) return item
    const owner = owners[item] ?? -1
    if (owner >= from && owner < to) return owner
    return kind === ITEM_KIND.page ? item : -1
  }
}

const DIGIT_BITS = 11
const DIGITS = 2 ** DIGIT_BITS

/**
 * The score of the result in a place, counted from 1, and how many results have more; 0 when there are fewer results than that.
 * Three histograms, each of the next digits of the scores that begin like the one that is looked for.
 */
function scoreOfPlace(bests: Uint32Array, found: readonly number[], place: number): { score: number; above: number } {
  const counts = new Uint32Array(DIGITS)
  let prefix = 0
  let above = 0
  for (let shift = 2 * DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
    counts.fill(0)
    for (let index = 0; index < found.length; index++) {
      const score = bests[found[index] as number] ?? 0
      if (shift < 2 * DIGIT_BITS && score >>> (shift + DIGIT_BITS) !== prefix) continue
      const digit = (score >>> shift) & (DIGITS - 1)
      counts[digit] = (counts[digit] ?? 0) + 1
    }
    let digit = DIGITS - 1
    while (digit >= 0 && above + (counts[digit] ?? 0) < place) above += counts[digit--] ?? 0
    if (digit < 0) return { score: 0, above }
    prefix = prefix * DIGITS + digit
  }
  return { score: prefix, above }
}

function collectFiles(
  units: FoundUnit[],
  { scores, bests }: { scores: Uint32Array; bests: Uint32Array },
  unitOf: (item: number) => number,
  members: Uint32Array,
): void {
  bests.fill(0)
  for (const [index, { item }] of units.entries()) bests[item] = index + 1
  for (let index = 0; index < members.length; index++) {
    const file = members[index] as number
    const unit = unitOf(file)
    const found = unit >= 0 && unit !== file ? units[(bests[unit] ?? 0) - 1] : undefined
    if (found) addFile(found, file, scores)
  }
}

/** Files come by number: one that is as good as those before it stands behind them. */
function addFile(found: FoundUnit, file: number, scores: Uint32Array): void {
  const { files } = found
  const score = scores[file] ?? 0
  let place = files.length
  while (place > 0 && (scores[files[place - 1] ?? 0] ?? 0) < score) place--
  files.splice(place, 0, file)
  if (files.length > FIND_FOLDED_FILES) {
    files.pop()
    found.moreFiles++
  }
}
