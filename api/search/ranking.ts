import { isStopWord } from '#core/search/analyze.ts'
import { ITEM_KIND, type SearchHead } from '#core/search/head.ts'
import { impactOf, PLACE, placeOf, visitPostings } from '#core/search/postings.ts'
import type { QueryTerm } from './query.ts'
import { FULL } from './weights.ts'

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
  /** Score by item number; 0 for an item that does not match. */
  scores: Uint32Array
  /** Room for one number an item. */
  scratch: Uint32Array
  /** Items with less do not match. At least 1. */
  floor: number
  /** The best score; 0 when nothing matches. */
  best: number
}

const STOP_WORD_WEIGHT = Math.floor(0.12 * FULL)
const PART_OF_FOUND_WEIGHT = Math.floor(0.1 * FULL)
const PART_WEIGHT = Math.floor(0.8 * FULL)
/** What a title adds that has the whole query and nothing else. */
const TITLE_BONUS = 0.5 * FULL
const SKILL_BONUS = 1.25 * FULL
/** An item matches when it has this share of the best score. */
const SCORE_FLOOR = Math.floor(0.15 * FULL)

/**
 * Scores every item: any of the terms will do, rare ones and those that tell much of the item count most.
 * A score follows from the item, the query and the whole snapshot alone, so the answer for a folder is the answer for everything,
 * without what lies elsewhere.
 *
 * @throws RangeError when bytes are no postings of the items
 */
export function rankItems(terms: readonly MatchedTerm[], head: Pick<SearchHead, 'kinds' | 'titleLengths'>): Ranking {
  const { kinds, titleLengths } = head
  const items = kinds.length
  const { scores, scratch } = pool(items)
  const known = terms.filter(({ matches }) => matches.length > 0)
  const weights = weightsOf(known)
  let total = 0

  for (const [index, { kind, matches, weight }] of known.entries()) {
    const isCounted = kind !== 'whole'
    let most = 0
    for (const match of matches) {
      const worth = Math.floor(((weights[index] ?? 0) * match.closeness * informationOf(match.items, items)) / FULL ** 2)
      most = Math.max(most, worth)
      visitPostings(match.postings, match.items, items, (item, posting) => {
        scores[item] = (scores[item] ?? 0) + worth * impactOf(posting)
        if (placeOf(posting) === PLACE.title) scratch[item] = withTitleTerm(scratch[item] ?? 0, worth, isCounted ? index + 1 : 0)
      })
    }
    if (weight === FULL) total += most
  }
  return settle(scores, scratch, kinds, titleLengths, Math.max(1, total))
}

// What is known of a title while terms are visited: its worth (18 bits), how many terms stand in it (7), the last of those (7).
const COUNT_BITS = 7
const WORTH_BITS = 32 - 2 * COUNT_BITS
const MOST_WORTH = 2 ** WORTH_BITS - 1
const COUNT_MASK = 2 ** COUNT_BITS - 1

/** @param counted number of the term, counted from 1; 0 for one that is not counted */
function withTitleTerm(known: number, worth: number, counted: number): number {
  const last = known & COUNT_MASK
  const count = (known >>> COUNT_BITS) & COUNT_MASK
  const isNew = counted !== 0 && counted !== last
  const sum = Math.min(MOST_WORTH, (known >>> (2 * COUNT_BITS)) + (worth >>> TITLE_SHIFT))
  return ((sum << (2 * COUNT_BITS)) | ((isNew ? count + 1 : count) << COUNT_BITS) | (isNew ? counted : last)) >>> 0
}

/** The worth of 64 terms fits the bits of a title without its lowest bits. */
const TITLE_SHIFT = 3

/** Adds what titles and skills get, and finds the best. */
function settle(scores: Uint32Array, titles: Uint32Array, kinds: Uint8Array, titleLengths: Uint8Array, total: number): Ranking {
  let best = 0
  for (let item = 0; item < scores.length; item++) {
    let score = scores[item] ?? 0
    if (score === 0) continue
    const title = titles[item] ?? 0
    if (title !== 0) {
      const share = Math.min(FULL, Math.floor((FULL * ((title >>> (2 * COUNT_BITS)) << TITLE_SHIFT)) / total))
      const count = (title >>> COUNT_BITS) & COUNT_MASK
      const fill = Math.min(FULL, Math.floor((FULL * count) / Math.max(1, titleLengths[item] ?? 0)))
      score += Math.floor((score * TITLE_BONUS * share * fill) / FULL ** 3)
    }
    if (kinds[item] === ITEM_KIND.skill) score = Math.floor((score * SKILL_BONUS) / FULL)
    scores[item] = score
    if (score > best) best = score
  }
  return { scores, scratch: titles, floor: Math.max(1, Math.ceil((best * SCORE_FLOOR) / FULL)), best }
}

/** A whole identifier that stands somewhere says more than its parts; pairs of one run share the weight of its length. */
function weightsOf(terms: readonly MatchedTerm[]): number[] {
  const onlyStopWords = terms.every(({ term }) => isStopWord(term))
  const foundWholes = new Set(terms.filter(({ kind, matches }) => kind === 'whole' && isExact(matches)).map(({ group }) => group))
  const pairs = new Map<number, number>()
  for (const { kind, group } of terms) if (kind === 'pair') pairs.set(group, (pairs.get(group) ?? 0) + 1)

  return terms.map(({ term, kind, group, weight }) => {
    if (kind === 'pair') return Math.floor(weight / Math.sqrt(pairs.get(group) ?? 1))
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

// Eight bytes for every item of the largest repository that was asked for; nothing else grows with a repository.
let pooledScores = new Uint32Array(0)
let pooledScratch = new Uint32Array(0)

function pool(items: number): { scores: Uint32Array; scratch: Uint32Array } {
  if (pooledScores.length < items) {
    pooledScores = new Uint32Array(items)
    pooledScratch = new Uint32Array(items)
  }
  const scores = pooledScores.subarray(0, items).fill(0)
  const scratch = pooledScratch.subarray(0, items).fill(0)
  return { scores, scratch }
}
