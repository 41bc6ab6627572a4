import { FIND_FOLDED_FILES } from '#core/limits.ts'
import { ITEM_KIND, type SearchHead } from '#core/search/head.ts'
import { lastIndexWhere } from '../snapshot/bisect.ts'
import type { Ranking } from './ranking.ts'

/** Item numbers from `from` up to, but not including, `to`. */
export type Interval = readonly [from: number, to: number]

/** One result: a skill with its matching files, or a document. */
export interface FoundUnit {
  /** The item number of the skill or document. */
  item: number
  /** Item numbers of matching files of the skill besides its `SKILL.md`, best first; at most `FIND_FOLDED_FILES`. */
  files: number[]
  /** How many further files match. */
  moreFiles: number
  /** Item numbers of its copies in the mount, in order. */
  copies: number[]
}

/** The page to cut, and the folder that it covers. */
export interface Page {
  /**
   * Items below the mount. If a skill lies above the mount, its Markdown files inside the mount count as documents, and its other files are
   * left out.
   */
  mounted: Interval
  /** Items below the searched folder, which lies in the mount. A skill above the folder, but in the mount, is the result for its files below. */
  visible: Interval
  /** Results before the page. */
  offset: number
  /** Results on the page at most. */
  limit: number
}

/** The results of a page, best first. */
export interface FoundPage {
  units: FoundUnit[]
  hasMore: boolean
}

/**
 * One page of results of a ranking, best first. A skill has the score and the place of its best member; results of equal score are in the
 * order of their best members. All pages together give the whole list, whatever their limits.
 *
 * Sorts only the results up to the end of the page and counts the scores of the others. Overwrites `ranking.scratch`.
 */
export function foldPage(
  { scores, scratch, matched }: Ranking,
  head: Pick<SearchHead, 'kinds' | 'owners' | 'copies'>,
  { mounted, visible, offset, limit }: Page,
): FoundPage {
  const copies = copySetsOf(head.copies)
  const folding: Folding = {
    scores,
    bests: scratch,
    unitOf: unitsIn(head, copies, mounted, visible),
    members: itemsIn(matched, visible),
  }
  const wanted = offset + limit + 1
  const ranked = rankUnits(folding, scoreOfPlace(folding.bests, collectBests(folding), wanted), wanted)
  const page = ranked.slice(offset, offset + limit)
  const units = page.map(({ unit }) => ({ item: unit, files: [], moreFiles: 0, copies: copies.others(unit, mounted) }))
  collectFiles(folding, units)
  return { units, hasMore: ranked.length === wanted }
}

interface Folding {
  /** By item number. */
  scores: Uint32Array
  /** The best score of each unit, by item number; used for other numbers later. */
  bests: Uint32Array
  /** The unit of an item; -1 for an item that is left out. */
  unitOf: (item: number) => number
  /** The matching items of the searched folder, in order. */
  members: Uint32Array
}

/** The items in an interval. */
function itemsIn(items: Uint32Array, [from, to]: Interval): Uint32Array {
  const placeOf = (item: number) => lastIndexWhere(items.length, index => (items[index] ?? 0) < item) + 1
  return items.subarray(placeOf(from), placeOf(to))
}

/** Of copies in the searched folder one is a result; the others, with their files, are left out. */
function unitsIn(
  { kinds, owners }: Pick<SearchHead, 'kinds' | 'owners'>,
  copies: CopySets,
  mounted: Interval,
  visible: Interval,
): Folding['unitOf'] {
  const unitOfSkill = (skill: number) => (isIn(visible, skill) && copies.first(skill, visible) !== skill ? -1 : skill)
  return item => {
    const kind = kinds[item]
    if (kind === ITEM_KIND.document) return item
    const owner = owners[item] ?? -1
    if (isIn(mounted, owner)) return unitOfSkill(owner)
    return kind === ITEM_KIND.page ? item : -1
  }
}

function isIn([from, to]: Interval, item: number): boolean {
  return item >= from && item < to
}

const SETS = new WeakMap<SearchHead['copies'], CopySets>()

/** Derived once from a head, which searches share. */
function copySetsOf(copies: SearchHead['copies']): CopySets {
  const known = SETS.get(copies) ?? new CopySets(copies)
  SETS.set(copies, known)
  return known
}

/** The skills that are copies of each other. */
class CopySets {
  readonly #originals: ReadonlyMap<number, number>
  /** By the number of the original: all of them, in order. */
  readonly #sets = new Map<number, number[]>()

  constructor(copies: ReadonlyMap<number, number>) {
    this.#originals = copies
    for (const [copy, original] of copies) {
      const set = this.#sets.get(original) ?? [original]
      this.#sets.set(original, set)
      set.push(copy)
    }
  }

  /** The one of a skill's copies that stands for all in an interval: the original, or the first. */
  first(skill: number, interval: Interval): number {
    return this.#setOf(skill).find(copy => isIn(interval, copy)) ?? skill
  }

  /** The other copies of a skill in an interval. */
  others(skill: number, interval: Interval): number[] {
    return this.#setOf(skill).filter(copy => copy !== skill && isIn(interval, copy))
  }

  #setOf(skill: number): readonly number[] {
    return this.#sets.get(this.#originals.get(skill) ?? skill) ?? [skill]
  }
}

/** Writes the best score of every unit into `bests`, and returns the units. */
function collectBests({ scores, bests, unitOf, members }: Folding): number[] {
  const units: number[] = []
  bests.fill(0)
  for (let index = 0; index < members.length; index++) {
    const item = members[index] as number
    const unit = unitOf(item)
    if (unit < 0) continue
    const score = scores[item] ?? 0
    const before = bests[unit] ?? 0
    if (before === 0) units.push(unit)
    if (score > before) bests[unit] = score
  }
  return units
}

interface RankedUnit {
  unit: number
  score: number
  /** Its first member with that score. */
  member: number
}

/** The first `count` units in order. Of the units with the last score, takes those with the first members. Overwrites `bests`. */
function rankUnits({ scores, bests, unitOf, members }: Folding, last: PlacedScore, count: number): RankedUnit[] {
  const ranked: RankedUnit[] = []
  let room = count - last.above
  for (let index = 0; index < members.length; index++) {
    const member = members[index] as number
    const score = scores[member] ?? 0
    if (score < last.score) continue
    const unit = unitOf(member)
    if (unit < 0 || bests[unit] !== score) continue
    if (score === last.score && room-- <= 0) continue
    bests[unit] = 0
    ranked.push({ unit, score, member })
  }
  return ranked.sort((left, right) => right.score - left.score || left.member - right.member)
}

const DIGIT_BITS = 11
const DIGITS = 2 ** DIGIT_BITS

/** The score of the unit in one place of the order. */
interface PlacedScore {
  score: number
  /** How many units have a higher score. */
  above: number
}

/**
 * The score of the unit in a place, counted from 1; score 0 when there are fewer units.
 *
 * A radix selection: three histograms, each over the next digit of the scores that share the digits found so far.
 */
function scoreOfPlace(bests: Uint32Array, units: readonly number[], place: number): PlacedScore {
  const counts = new Uint32Array(DIGITS)
  let prefix = 0
  let above = 0
  for (let shift = 2 * DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
    counts.fill(0)
    for (let index = 0; index < units.length; index++) {
      const score = bests[units[index] as number] ?? 0
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

/** Adds the matching files of the skills on a page. Overwrites `bests` with places on the page, counted from 1. */
function collectFiles({ scores, bests: places, unitOf, members }: Folding, units: FoundUnit[]): void {
  places.fill(0)
  for (const [index, { item }] of units.entries()) places[item] = index + 1
  for (let index = 0; index < members.length; index++) {
    const file = members[index] as number
    const unit = unitOf(file)
    const found = unit >= 0 && unit !== file ? units[(places[unit] ?? 0) - 1] : undefined
    if (found) addFile(found, file, scores)
  }
}

/** Files are added in item order, so a file comes after those of the same score. */
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
