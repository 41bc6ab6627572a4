import { isStopWord } from '#core/search/analyze.ts'
import { ITEM_KIND, type SearchHead } from '#core/search/head.ts'
import { impactOf, PLACE, placeOf, visitPostings } from '#core/search/postings.ts'
import type { QueryTerm } from './query.ts'
import { FULL } from './weights.ts'

/**
 * Version of the order of results, part of every cursor: a page of another order does not go on.
 *
 * 1: the first one that is counted.
 * 2: a character alone finds the most frequent of the pairs that begin with it.
 */
export const RANKING_VERSION = 2

/** The postings of a query term itself, or of a term close to it where it stands nowhere. */
export interface TermMatch {
  /** How many items have it. */
  items: number
  /** As `visitPostings` takes them. */
  postings: Uint8Array
  /** `FULL` for the term itself, less for one that is spelled a little differently. */
  closeness: number
}

export interface MatchedTerm extends QueryTerm {
  matches: readonly TermMatch[]
}

/**
 * What every item is worth. The arrays are used again: a ranking is valid until the next one is made in this process,
 * so fold it before giving up the turn.
 */
export interface Ranking {
  /** Score by item number; 0 for an item that does not match, or not enough. */
  scores: Uint32Array
  /** The items that have one, in order. */
  matched: Uint32Array
  /** Room for one number an item. */
  scratch: Uint32Array
}

const STOP_WORD_WEIGHT = Math.floor(0.12 * FULL)
const PART_OF_FOUND_WEIGHT = Math.floor(0.1 * FULL)
const PART_WEIGHT = Math.floor(0.8 * FULL)
/** What an item gets whose names have the whole query. */
const NAMES_BONUS = FULL
/** What a title adds that has the whole query and nothing else. */
const TITLE_BONUS = 0.5 * FULL
const SKILL_BONUS = 1.25 * FULL
// One common word of a long question is no match: an item needs either share, of the best score before what names and skills get,
// or of what the item has that has most of the query. The second keeps the one long text that has every word somewhere.
const SCORE_FLOOR = Math.floor(0.15 * FULL)
const COVERAGE_FLOOR = Math.floor(0.75 * FULL)

/**
 * Scores every item: any of the terms will do, rare ones and those that tell much of the item count most. What a title has of the query,
 * and an item whose names (title, description, keywords, headings, path) have all of it, adds to that.
 *
 * A score follows from the item, the query and the whole snapshot alone, so the answer for a folder is the answer for everything,
 * without what lies elsewhere.
 *
 * @throws RangeError when bytes are no postings of the items
 */
export function rankItems(terms: readonly MatchedTerm[], head: Pick<SearchHead, 'kinds' | 'titleLengths'>): Ranking {
  const items = head.kinds.length
  const ranking = pool(items)
  const { scores, scratch, covered } = ranking
  const weighed = weigh(terms, items)
  const total = totalOf(weighed.filter(({ isScored }) => isScored))
  const nameTotal = totalOf(weighed.filter(({ isNamed }) => isNamed))

  for (const { matches, isScored, isNamed, isCounted } of weighed) {
    for (const { match, worth } of matches) {
      const inTitle = isScored ? Math.round((SHARE * worth) / total) : 0
      const inItem = isScored ? Math.round((COVERED * worth) / total) : 0
      const inNames = isNamed ? Math.round((SHARE * worth) / nameTotal) : 0
      visitPostings(match.postings, match.items, items, (item, posting) => {
        if (isScored) {
          scores[item] = (scores[item] ?? 0) + worth * impactOf(posting)
          covered[item] = Math.min(COVERED, (covered[item] ?? 0) + inItem)
        }
        const place = placeOf(posting)
        if (place === PLACE.body) return
        const isTitle = place === PLACE.title
        scratch[item] = withNames(scratch[item] ?? 0, inNames, isTitle ? inTitle : 0, isTitle && isCounted ? 1 : 0)
      })
    }
  }
  return settle(ranking, head)
}

/** What a query term adds. */
interface WeighedTerm {
  matches: { match: TermMatch; worth: number }[]
  /** The most that an item can get of it; 0 for what the query itself does not say. */
  most: number
  /** Counts by its impact. Triples do not: their pairs do. */
  isScored: boolean
  /** Counts among the names of an item. Where pairs have triples, those do. */
  isNamed: boolean
  /** Counts as one of the terms of a title. */
  isCounted: boolean
}

function weigh(terms: readonly MatchedTerm[], items: number): WeighedTerm[] {
  const known = terms.filter(({ kind, matches }) => matches.length > 0 || kind === 'triple')
  const weights = weightsOf(known)
  const withTriples = new Set(known.filter(({ kind }) => kind === 'triple').map(({ group }) => group))
  return known.map(({ kind, group, weight, matches }, index) => {
    // Of words that may have been meant, a rare one is not worth more for being rare.
    const information = informationOf(Math.max(0, ...matches.map(match => match.items)), items)
    const worthOf = (closeness: number) => Math.floor(((weights[index] ?? 0) * closeness * information) / FULL ** 2)
    const weighed = matches.map(match => ({ match, worth: worthOf(match.closeness) }))
    const most = matches.length > 0 ? Math.max(...weighed.map(({ worth }) => worth)) : worthOf(FULL)
    return {
      matches: weighed,
      most: weight === FULL ? most : 0,
      isScored: kind !== 'triple',
      isNamed: kind !== 'pair' || !withTriples.has(group),
      isCounted: kind !== 'triple' && kind !== 'whole',
    }
  })
}

function totalOf(terms: readonly WeighedTerm[]): number {
  return Math.max(
    1,
    terms.reduce((sum, { most }) => sum + most, 0),
  )
}

// What is known of the names of an item while terms are visited, in the bits of one number:
// the share of the query in its names, the share in its title, and how many terms of its title are in the query.
const SHARE_BITS = 11
const SHARE = 2 ** SHARE_BITS
const SHARE_MASK = 2 * SHARE - 1
const COUNT_BITS = 8
const COUNT_MASK = 2 ** COUNT_BITS - 1
const TITLE_SHIFT = COUNT_BITS
const NAMES_SHIFT = COUNT_BITS + SHARE_BITS + 1

function withNames(known: number, inNames: number, inTitle: number, count: number): number {
  const names = Math.min(SHARE, (known >>> NAMES_SHIFT) + inNames)
  const title = Math.min(SHARE, ((known >>> TITLE_SHIFT) & SHARE_MASK) + inTitle)
  const counted = Math.min(COUNT_MASK, (known & COUNT_MASK) + count)
  return ((names << NAMES_SHIFT) | (title << TITLE_SHIFT) | counted) >>> 0
}

/** How much of the query an item has, in one byte: all of it is this. */
const COVERED = 255

/** Drops what matches too little, and adds what names and skills get. */
function settle(
  { scores, scratch, covered, matched }: Pool,
  { kinds, titleLengths }: Pick<SearchHead, 'kinds' | 'titleLengths'>,
): Ranking {
  let met = 0
  let mostScore = 0
  let mostCovered = 0
  for (let item = 0; item < scores.length; item++) {
    const score = scores[item] ?? 0
    if (score === 0) continue
    matched[met++] = item
    mostScore = Math.max(mostScore, score)
    mostCovered = Math.max(mostCovered, covered[item] ?? 0)
  }
  const scoreFloor = floorOf(mostScore, SCORE_FLOOR)
  const coverageFloor = floorOf(mostCovered, COVERAGE_FLOOR)
  let kept = 0
  for (let index = 0; index < met; index++) {
    const item = matched[index] as number
    let score = scores[item] ?? 0
    if (score < scoreFloor && (covered[item] ?? 0) < coverageFloor) {
      scores[item] = 0
      continue
    }
    matched[kept++] = item
    const known = scratch[item] ?? 0
    if (known !== 0) {
      score += Math.floor((score * NAMES_BONUS * nearlyAll(known >>> NAMES_SHIFT)) / (FULL * SHARE))
      const share = (known >>> TITLE_SHIFT) & SHARE_MASK
      const fill = Math.min(FULL, Math.floor((FULL * (known & COUNT_MASK)) / Math.max(1, titleLengths[item] ?? 0)))
      score += Math.floor((score * TITLE_BONUS * share * fill) / (FULL ** 2 * SHARE))
    }
    if (kinds[item] === ITEM_KIND.skill) score = Math.floor((score * SKILL_BONUS) / FULL)
    scores[item] = score
  }
  return { scores, scratch, matched: matched.subarray(0, kept) }
}

function floorOf(most: number, share: number): number {
  return Math.ceil((most * share) / FULL)
}

/** The eighth power of a share: half of a query is next to nothing, so that long questions do not turn on it. */
function nearlyAll(share: number): number {
  let power = share
  for (let squarings = 0; squarings < 3; squarings++) power = Math.floor((power * power) / SHARE)
  return power
}

/** A whole identifier that stands somewhere says more than its parts; pairs of one run share the weight of its length. */
function weightsOf(terms: readonly MatchedTerm[]): number[] {
  const onlyStopWords = terms.every(({ term }) => isStopWord(term))
  const foundWholes = new Set(terms.filter(({ kind, matches }) => kind === 'whole' && isExact(matches)).map(({ group }) => group))
  const pairs = new Map<number, number>()
  for (const { kind, group } of terms) if (kind === 'pair') pairs.set(group, (pairs.get(group) ?? 0) + 1)

  return terms.map(({ term, kind, group, weight }) => {
    if (kind === 'pair' || kind === 'triple') return Math.floor(weight / Math.sqrt(pairs.get(group) ?? 1))
    if (!onlyStopWords && isStopWord(term)) return Math.floor((weight * STOP_WORD_WEIGHT) / FULL)
    if (kind !== 'part') return weight
    return Math.floor((weight * (foundWholes.has(group) ? PART_OF_FOUND_WEIGHT : PART_WEIGHT)) / FULL)
  })
}

function isExact(matches: readonly TermMatch[]): boolean {
  return matches.some(({ closeness }) => closeness === FULL)
}

/**
 * How much it tells that an item has a term which `found` of `items` have: log2 of the odds, in 1/1024.
 * The digits come from squaring, which is exact enough to be the same on every machine; the built-in logarithm may differ.
 */
export function informationOf(found: number, items: number): number {
  let odds = (items + 1) / (found + 0.5)
  let information = 0
  while (odds >= 2) {
    odds /= 2
    information += FULL
  }
  for (let digit = FULL / 2; digit >= 1; digit /= 2) {
    odds *= odds
    if (odds < 2) continue
    odds /= 2
    information += digit
  }
  return Math.max(LEAST_INFORMATION, information)
}

const LEAST_INFORMATION = FULL / 16

// 13 bytes for every item of the largest repository that was asked for; nothing else grows with a repository.
interface Pool {
  scores: Uint32Array
  scratch: Uint32Array
  matched: Uint32Array
  covered: Uint8Array
}

let pooled = createPool(0)

function createPool(items: number): Pool {
  const [scores, scratch, matched] = [new Uint32Array(items), new Uint32Array(items), new Uint32Array(items)]
  return { scores, scratch, matched, covered: new Uint8Array(items) }
}

function pool(items: number): Pool {
  if (pooled.scores.length < items) pooled = createPool(items)
  return {
    scores: pooled.scores.subarray(0, items).fill(0),
    scratch: pooled.scratch.subarray(0, items).fill(0),
    matched: pooled.matched.subarray(0, items),
    covered: pooled.covered.subarray(0, items).fill(0),
  }
}
