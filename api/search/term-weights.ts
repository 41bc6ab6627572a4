import { isStopWord } from '#core/search/analyze.ts'
import { FULL } from './fixed-point.ts'
import type { QueryTerm } from './query.ts'

/** The postings of a query term, or of a similar term if no item has the query term. */
export interface TermMatch {
  /** How many items have the term. */
  items: number
  /** As `visitPostings` takes them. */
  postings: Uint8Array
  /** `FULL` for the query term itself, less for a similar term. */
  closeness: number
}

/** A term of a query with its postings. */
export interface MatchedTerm extends QueryTerm {
  matches: readonly TermMatch[]
}

/** What a query term adds to the scores of items. */
export interface WeighedTerm {
  matches: { match: TermMatch; weight: number }[]
  /** The most that the term adds to an item; 0 for a synonym, which the query itself does not contain. */
  maxWeight: number
  /** Counts by its impact. Triples do not, since their pairs do. */
  isScored: boolean
  /** Counts among the short fields of an item. Pairs of a group that has triples do not, since the triples do. */
  isInShortFields: boolean
  /** Counts as one of the terms of a title. */
  isCounted: boolean
}

const STOP_WORD_WEIGHT = Math.floor(0.12 * FULL)
const PART_OF_FOUND_WEIGHT = Math.floor(0.1 * FULL)
const PART_WEIGHT = Math.floor(0.8 * FULL)

/** Weighs the terms of a query by their kind and by how rare they are among the items. Terms without matches are left out, except triples. */
export function weighTerms(terms: readonly MatchedTerm[], items: number): WeighedTerm[] {
  const known = terms.filter(({ kind, matches }) => matches.length > 0 || kind === 'triple')
  const kindWeights = kindWeightsOf(known)
  const withTriples = new Set(known.filter(({ kind }) => kind === 'triple').map(({ group }) => group))
  return known.map(({ kind, group, weight: queryWeight, matches }, index) => {
    // Similar terms share the weight of the most frequent one: a rare respelling is not worth more for being rare.
    const information = informationOf(Math.max(0, ...matches.map(match => match.items)), items)
    const weightOf = (closeness: number) => Math.floor(((kindWeights[index] ?? 0) * closeness * information) / FULL ** 2)
    const weighed = matches.map(match => ({ match, weight: weightOf(match.closeness) }))
    const maxWeight = matches.length > 0 ? Math.max(...weighed.map(({ weight }) => weight)) : weightOf(FULL)
    return {
      matches: weighed,
      maxWeight: queryWeight === FULL ? maxWeight : 0,
      isScored: kind !== 'triple',
      isInShortFields: kind !== 'pair' || !withTriples.has(group),
      isCounted: kind !== 'triple' && kind !== 'whole',
    }
  })
}

/**
 * The weight of each term by its kind, before its inverse document frequency. Parts of an identifier weigh little if the whole identifier is found. The pairs of a run of
 * characters share the weight of the run.
 */
function kindWeightsOf(terms: readonly MatchedTerm[]): number[] {
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
 * The information of a term that `found` of `items` have: log2 of the odds in 1/1024, at least `MIN_INFORMATION`.
 *
 * The digits come from squaring, which gives the same result on every machine; `Math.log2` may differ.
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
  return Math.max(MIN_INFORMATION, information)
}

const MIN_INFORMATION = FULL / 16
