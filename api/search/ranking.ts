import { ITEM_KIND, type SearchHead } from '#core/search/head.ts'
import { impactOf, PLACE, placeOf, visitPostings } from '#core/search/postings.ts'
import { FULL } from './fixed-point.ts'
import { type MatchedTerm, type TermMatch, type WeighedTerm, weighTerms } from './term-weights.ts'

/**
 * Version of the order of results, part of every cursor of a search: a cursor of another version is refused.
 *
 * 1: the first version.
 * 2: a single character finds the most frequent pairs that begin with it.
 * 3: more terms of long queries; whole titles in them; tests and supporting files count less; copies are one result.
 */
export const RANKING_VERSION = 3

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
/** Further bonus for a title of several terms that is in the query as a whole: long questions often name what they mean. */
const WHOLE_TITLE_BONUS = 0.3 * FULL
const WHOLE_TITLE_TERMS = 2
/** The factor for skills. */
const SKILL_BONUS = 1.25 * FULL
/** The factor for supporting files: the name and the description of a skill say more of it than one of its many files. */
const SUPPORTING_FACTOR = 0.8 * FULL
/** The factor for skills that are there to be tested or shown. */
const ASIDE_SKILL_FACTOR = 0.5 * FULL
// One common word of a long question is not enough. An item must reach SCORE_FLOOR of the best score (without bonuses) or
// COVERAGE_FLOOR of the best coverage. The second keeps a long text that contains every word somewhere.
const SCORE_FLOOR = Math.floor(0.15 * FULL)
const COVERAGE_FLOOR = Math.floor(0.75 * FULL)
/** A list of so few items, copies counted once, is read to its end. Nothing is left out of it, unless an identifier was asked for. */
const SHORT_LIST = 10

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
export function rankItems(buffers: RankingBuffers, terms: readonly MatchedTerm[], head: RankedHead): Ranking {
  const items = head.kinds.length
  const evidence = buffers.take(items)
  const weighed = weighTerms(terms, items)
  const total = totalOf(weighed.filter(({ isScored }) => isScored))
  const shortFieldsTotal = totalOf(weighed.filter(({ isInShortFields }) => isInShortFields))
  for (const term of weighed) {
    for (const { match, weight } of term.matches) addPostings(evidence, match, gainsOf(term, weight, total, shortFieldsTotal))
  }
  const isSentence = new Set(terms.filter(({ weight }) => weight === FULL).map(({ group }) => group)).size > 1
  return finishScores(evidence, head, isSentence)
}

type RankedHead = Pick<SearchHead, 'kinds' | 'asides' | 'copies' | 'titleLengths'>

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

/** Drops the items that match too little, adds the bonuses of short fields and skills, and puts documents of tests behind skills. */
function finishScores(evidence: ItemArrays, head: RankedHead, isSentence: boolean): Ranking {
  const { scores, shortFields, coverage, matched } = evidence
  const { count, maxScore, maxCoverage } = collectMatches(evidence, head)
  const isShort = isSentence && count - countCopies(evidence, head) <= SHORT_LIST
  const scoreFloor = isShort ? 0 : floorOf(maxScore, SCORE_FLOOR)
  const coverageFloor = floorOf(maxCoverage, COVERAGE_FLOOR)
  let kept = 0
  for (let index = 0; index < count; index++) {
    const item = matched[index] as number
    const isMatch = (scores[item] ?? 0) >= scoreFloor || (coverage[item] ?? 0) >= coverageFloor
    scores[item] = isMatch ? withBonuses(evidence, head, item) : 0
    if (isMatch) matched[kept++] = item
  }
  const ranking = { scores, matched: matched.subarray(0, kept), scratch: shortFields }
  putTestsBehindSkills(ranking, head)
  return ranking
}

/** Copies of skills that match. */
function countCopies({ scores }: ItemArrays, { copies }: RankedHead): number {
  let count = 0
  for (const copy of copies.keys()) if ((scores[copy] ?? 0) > 0) count++
  return count
}

/** Scales the scores of documents in folders for tests, in their order, below that of each skill that matches: they often quote whole questions. */
function putTestsBehindSkills({ scores, matched }: Ranking, { kinds, asides }: RankedHead): void {
  let leastOfSkills = Number.POSITIVE_INFINITY
  let mostOfTests = 0
  const isTest = (item: number) => asides[item] === 1 && kinds[item] === ITEM_KIND.document
  for (const item of matched) {
    const score = scores[item] ?? 0
    if (isTest(item)) mostOfTests = Math.max(mostOfTests, score)
    else if (kinds[item] === ITEM_KIND.skill) leastOfSkills = Math.min(leastOfSkills, score)
  }
  if (mostOfTests < leastOfSkills) return
  const most = Math.max(1, leastOfSkills - 1)
  for (const item of matched) {
    if (isTest(item)) scores[item] = Math.max(1, Math.floor(((scores[item] ?? 0) * most) / mostOfTests))
  }
}

/** Lists the items with a score in `matched`. What is there to be tested or shown sets no standard for others. */
function collectMatches(
  { scores, coverage, matched }: ItemArrays,
  { asides }: RankedHead,
): { count: number; maxScore: number; maxCoverage: number } {
  let count = 0
  const [others, aside] = [
    { maxScore: 0, maxCoverage: 0 },
    { maxScore: 0, maxCoverage: 0 },
  ]
  for (let item = 0; item < scores.length; item++) {
    const score = scores[item] ?? 0
    if (score === 0) continue
    matched[count++] = item
    const most = asides[item] === 1 ? aside : others
    most.maxScore = Math.max(most.maxScore, score)
    most.maxCoverage = Math.max(most.maxCoverage, coverage[item] ?? 0)
  }
  return { count, ...(others.maxScore > 0 ? others : aside) }
}

function floorOf(most: number, share: number): number {
  return Math.ceil((most * share) / FULL)
}

function withBonuses({ scores, shortFields }: ItemArrays, { kinds, asides, titleLengths }: RankedHead, item: number): number {
  const packed = shortFields[item] ?? 0
  let score = scores[item] ?? 0
  if (packed !== 0) {
    score += Math.floor((score * SHORT_FIELDS_BONUS * eighthPower(packed >>> SHORT_FIELDS_SHIFT)) / (FULL * SHARE))
    const titleShare = (packed >>> TITLE_SHIFT) & SHARE_MASK
    const titleTerms = packed & COUNT_MASK
    const titleLength = titleLengths[item] ?? 0
    const titleFill = Math.min(FULL, Math.floor((FULL * titleTerms) / Math.max(1, titleLength)))
    score += Math.floor((score * TITLE_BONUS * titleShare * titleFill) / (FULL ** 2 * SHARE))
    if (titleTerms >= Math.max(WHOLE_TITLE_TERMS, titleLength)) score += Math.floor((score * WHOLE_TITLE_BONUS) / FULL)
  }
  return Math.floor((score * factorOf(kinds[item], asides[item] === 1)) / FULL)
}

function factorOf(kind: number | undefined, isAside: boolean): number {
  if (kind === ITEM_KIND.skill) return isAside ? ASIDE_SKILL_FACTOR : SKILL_BONUS
  return kind === ITEM_KIND.document ? FULL : SUPPORTING_FACTOR
}

/** The eighth power of a share: short fields with half of the query add next to nothing, so they do not decide long questions. */
function eighthPower(share: number): number {
  let power = share
  for (let squarings = 0; squarings < 3; squarings++) power = Math.floor((power * power) / SHARE)
  return power
}

/** Arrays with one number for each item of a snapshot, by item number except `matched`. */
interface ItemArrays {
  scores: Uint32Array
  /** What the short fields of the item, all but its body, have of the query, packed into the bits of one number. */
  shortFields: Uint32Array
  /** How much of the query the item contains. */
  coverage: Uint8Array
  /** Numbers of the items with a score, in rising order; not indexed by item. */
  matched: Uint32Array
}

/**
 * Memory for rankings. Allocating it for every query would take most of the time of ranking a large snapshot, so a caller keeps one
 * `RankingBuffers` and passes it to one ranking after another. It holds 13 bytes for each item of the largest snapshot ranked so far.
 */
export class RankingBuffers {
  #arrays = allocateArrays(0)

  /** Arrays for so many items, all zero except `matched`. Arrays taken before are no longer valid. */
  take(items: number): ItemArrays {
    if (this.#arrays.scores.length < items) this.#arrays = allocateArrays(items)
    const { scores, shortFields, coverage, matched } = this.#arrays
    return {
      scores: scores.subarray(0, items).fill(0),
      shortFields: shortFields.subarray(0, items).fill(0),
      coverage: coverage.subarray(0, items).fill(0),
      matched: matched.subarray(0, items),
    }
  }
}

function allocateArrays(items: number): ItemArrays {
  return {
    scores: new Uint32Array(items),
    shortFields: new Uint32Array(items),
    coverage: new Uint8Array(items),
    matched: new Uint32Array(items),
  }
}
