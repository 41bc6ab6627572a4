import { ITEM_KIND, type SearchHead } from '#core/search/head.ts'
import { impactOf, PLACE, placeOf, visitPostings } from '#core/search/postings.ts'
import { FULL } from './fixed-point.ts'
import type { ItemArrays, RankingBuffers } from './ranking-buffers.ts'
import { type MatchedTerm, type TermMatch, type WeighedTerm, weighTerms } from './term-weights.ts'

/**
 * Version of the order of results, part of every cursor of a search: a cursor of another version is refused.
 *
 * 1: the first version.
 * 2: a single character finds the most frequent pairs that begin with it.
 */
export const RANKING_VERSION = 2

/** The scores of all items for one query. Its arrays are those of the buffers: valid until the buffers are used again. */
export interface Ranking {
  /** Score by item number; 0 for an item that does not match, or matches too little. */
  scores: Uint32Array
  /** The items with a score, in order. */
  matched: Uint32Array
  /** Room for one number an item, for use by the caller. */
  scratch: Uint32Array
}

/** Bonus for an item whose short fields contain the whole query. */
const SHORT_FIELDS_BONUS = FULL
/** Further bonus for a title that contains the whole query and nothing else. */
const TITLE_BONUS = 0.5 * FULL
/** The factor for skills. */
const SKILL_BONUS = 1.25 * FULL
// One common word of a long question is not enough. An item must reach SCORE_FLOOR of the best score (without bonuses) or
// COVERAGE_FLOOR of the best coverage. The second keeps a long text that contains every word somewhere.
const SCORE_FLOOR = Math.floor(0.15 * FULL)
const COVERAGE_FLOOR = Math.floor(0.75 * FULL)

/**
 * Scores every item. An item matches with any of the terms; rare terms, and terms with much impact on the item, count most. A title that
 * contains terms of the query, and short fields (all but the body: title, description, keywords, headings, path) that together contain all of them,
 * add to the score.
 *
 * A score depends on the item, the query and the whole snapshot, not on the folder that is searched: searching a folder gives the items of
 * the folder in the order of a search of everything.
 *
 * Time is linear in the postings and the items.
 *
 * @throws FormatError when bytes are no postings of the items
 */
export function rankItems(
  buffers: RankingBuffers,
  terms: readonly MatchedTerm[],
  head: Pick<SearchHead, 'kinds' | 'titleLengths'>,
): Ranking {
  const items = head.kinds.length
  const evidence = buffers.take(items)
  const weighed = weighTerms(terms, items)
  const total = totalOf(weighed.filter(({ isScored }) => isScored))
  const shortFieldsTotal = totalOf(weighed.filter(({ isInShortFields }) => isInShortFields))
  for (const term of weighed) {
    for (const { match, weight } of term.matches) addPostings(evidence, match, gainsOf(term, weight, total, shortFieldsTotal))
  }
  return finishScores(evidence, head)
}

/** The coverage of an item that contains the whole query. */
const FULL_COVERAGE = 255

/** What one posting of a term adds to its item. */
interface Gains {
  /** For each unit of impact. */
  score: number
  coverage: number
  shortFields: number
  title: number
  /** Terms of the title. */
  titleTerms: number
}

function gainsOf(
  { isScored, isInShortFields, isCounted }: WeighedTerm,
  weight: number,
  total: number,
  shortFieldsTotal: number,
): Gains {
  return {
    score: isScored ? weight : 0,
    coverage: isScored ? Math.round((FULL_COVERAGE * weight) / total) : 0,
    shortFields: isInShortFields ? Math.round((SHARE * weight) / shortFieldsTotal) : 0,
    title: isScored ? Math.round((SHARE * weight) / total) : 0,
    titleTerms: isCounted ? 1 : 0,
  }
}

function addPostings({ scores, shortFields, coverage }: ItemArrays, { postings, items: count }: TermMatch, gains: Gains): void {
  visitPostings(postings, count, scores.length, (item, posting) => {
    scores[item] = (scores[item] ?? 0) + gains.score * impactOf(posting)
    coverage[item] = Math.min(FULL_COVERAGE, (coverage[item] ?? 0) + gains.coverage)
    const place = placeOf(posting)
    if (place !== PLACE.body) shortFields[item] = addShortFields(shortFields[item] ?? 0, gains, place === PLACE.title)
  })
}

function totalOf(terms: readonly WeighedTerm[]): number {
  const total = terms.reduce((sum, { maxWeight }) => sum + maxWeight, 0)
  return Math.max(1, total)
}

// What the short fields of an item have of the query, in the bits of one number:
// the share of the query in its short fields, the share in its title, and how many terms of its title are in the query.
const SHARE_BITS = 11
const SHARE = 2 ** SHARE_BITS
const SHARE_MASK = 2 * SHARE - 1
const COUNT_BITS = 8
const COUNT_MASK = 2 ** COUNT_BITS - 1
const TITLE_SHIFT = COUNT_BITS
const SHORT_FIELDS_SHIFT = COUNT_BITS + SHARE_BITS + 1

function addShortFields(packed: number, gains: Gains, isTitle: boolean): number {
  const shortFields = Math.min(SHARE, (packed >>> SHORT_FIELDS_SHIFT) + gains.shortFields)
  const title = Math.min(SHARE, ((packed >>> TITLE_SHIFT) & SHARE_MASK) + (isTitle ? gains.title : 0))
  const terms = Math.min(COUNT_MASK, (packed & COUNT_MASK) + (isTitle ? gains.titleTerms : 0))
  return ((shortFields << SHORT_FIELDS_SHIFT) | (title << TITLE_SHIFT) | terms) >>> 0
}

/** Drops the items that match too little, and adds the bonuses of short fields and skills. */
function finishScores(evidence: ItemArrays, head: Pick<SearchHead, 'kinds' | 'titleLengths'>): Ranking {
  const { scores, shortFields, coverage, matched } = evidence
  const { count, maxScore, maxCoverage } = collectMatches(evidence)
  const scoreFloor = floorOf(maxScore, SCORE_FLOOR)
  const coverageFloor = floorOf(maxCoverage, COVERAGE_FLOOR)
  let kept = 0
  for (let index = 0; index < count; index++) {
    const item = matched[index] as number
    const isMatch = (scores[item] ?? 0) >= scoreFloor || (coverage[item] ?? 0) >= coverageFloor
    scores[item] = isMatch ? withBonuses(evidence, head, item) : 0
    if (isMatch) matched[kept++] = item
  }
  return { scores, matched: matched.subarray(0, kept), scratch: shortFields }
}

/** Lists the items with a score in `matched`. */
function collectMatches({ scores, coverage, matched }: ItemArrays): { count: number; maxScore: number; maxCoverage: number } {
  let count = 0
  let maxScore = 0
  let maxCoverage = 0
  for (let item = 0; item < scores.length; item++) {
    const score = scores[item] ?? 0
    if (score === 0) continue
    matched[count++] = item
    maxScore = Math.max(maxScore, score)
    maxCoverage = Math.max(maxCoverage, coverage[item] ?? 0)
  }
  return { count, maxScore, maxCoverage }
}

function floorOf(most: number, share: number): number {
  return Math.ceil((most * share) / FULL)
}

function withBonuses(
  { scores, shortFields }: ItemArrays,
  { kinds, titleLengths }: Pick<SearchHead, 'kinds' | 'titleLengths'>,
  item: number,
): number {
  const packed = shortFields[item] ?? 0
  let score = scores[item] ?? 0
  if (packed !== 0) {
    score += Math.floor((score * SHORT_FIELDS_BONUS * eighthPower(packed >>> SHORT_FIELDS_SHIFT)) / (FULL * SHARE))
    const titleShare = (packed >>> TITLE_SHIFT) & SHARE_MASK
    const titleFill = Math.min(FULL, Math.floor((FULL * (packed & COUNT_MASK)) / Math.max(1, titleLengths[item] ?? 0)))
    score += Math.floor((score * TITLE_BONUS * titleShare * titleFill) / (FULL ** 2 * SHARE))
  }
  return kinds[item] === ITEM_KIND.skill ? Math.floor((score * SKILL_BONUS) / FULL) : score
}

/** The eighth power of a share: short fields with half of the query add next to nothing, so they do not decide long questions. */
function eighthPower(share: number): number {
  let power = share
  for (let squarings = 0; squarings < 3; squarings++) power = Math.floor((power * power) / SHARE)
  return power
}
