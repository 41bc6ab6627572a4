import { analyze, isStopWord, type TermKind } from '#core/search/analyze.ts'
import { impactOf, titleTermsOf } from '#core/search/posting.ts'
import type { SearchTermRow } from '#core/snapshot/format.ts'

/** One term that a query asks for. */
export interface QueryTerm {
  term: string
  kind: TermKind
  /** Terms of one identifier, or of one run of characters, share it. */
  group: number
}

/** A query term with the postings of the term itself, or of terms close to it when it stands nowhere. */
export interface MatchedTerm extends QueryTerm {
  matches: readonly TermMatch[]
}

export interface TermMatch {
  row: SearchTermRow
  /** 1 for the term itself, less for a term that is spelled a little differently. */
  closeness: number
}

export interface RankedItem {
  /** Row of `searchItems`. */
  number: number
  score: number
}

/** One result: a skill with its members that match, or a document. */
export interface RankedUnit {
  /** Row of `searchItems`: the `SKILL.md`, or the document. */
  number: number
  /** Matching files of the skill besides its `SKILL.md`, best first. */
  files: number[]
}

const QUERY_GROUPS = 32
const QUERY_TERMS = 64

/** The different terms of a query, in its order, at most `QUERY_TERMS` of its first `QUERY_GROUPS` words. */
export function queryTerms(query: string): QueryTerm[] {
  const terms = new Map<string, QueryTerm>()
  analyze(query, (term, kind, group) => {
    if (group < QUERY_GROUPS && terms.size < QUERY_TERMS && !terms.has(term)) terms.set(term, { term, kind, group })
  })
  return [...terms.values()]
}

const STOP_WORD_WEIGHT = 0.12
const PART_OF_FOUND_WEIGHT = 0.1
const PART_WEIGHT = 0.8
const TITLE_BONUS = 0.5
const SKILL_BONUS = 1.25
/** An item matches when the terms it has carry this share of what the best covered item has. */
const COVERAGE_FLOOR = 0.15

/**
 * The items that match, best first; equal ones in path order.
 *
 * An item needs any of the terms, and enough of them by weight: one common word of a long question is no match.
 * A score follows from the item, the query and the whole snapshot alone, so the answer for a folder is the answer for everything,
 * without what lies elsewhere. Only operations that IEEE 754 rounds in one way make it: it is the same on every machine.
 */
export function rankItems(terms: readonly MatchedTerm[], owners: readonly number[]): RankedItem[] {
  const known = terms.filter(({ matches }) => matches.length > 0)
  const weights = weightsOf(known)
  const scores = new Float64Array(owners.length)
  const coverage = new Float64Array(owners.length)
  const titleShares = new Float64Array(owners.length)
  const titleMatches = new Uint8Array(owners.length)
  const titleLengths = new Uint8Array(owners.length)
  let total = 0

  for (const [index, { kind, matches }] of known.entries()) {
    let best = 0
    for (const { row, closeness } of matches) {
      const worth = (weights[index] ?? 0) * closeness * informationOf(row.length / 2, owners.length)
      best = Math.max(best, worth)
      for (let at = 0; at < row.length; at += 2) {
        const number = row[at] ?? 0
        const posting = row[at + 1] ?? 0
        scores[number] = (scores[number] ?? 0) + worth * impactOf(posting)
        coverage[number] = (coverage[number] ?? 0) + worth
        const titleTerms = titleTermsOf(posting)
        if (titleTerms === 0) continue
        titleShares[number] = (titleShares[number] ?? 0) + worth
        titleLengths[number] = titleTerms
        if (kind !== 'whole') titleMatches[number] = (titleMatches[number] ?? 0) + 1
      }
    }
    total += best
  }

  const floor = COVERAGE_FLOOR * coverage.reduce((most, value) => Math.max(most, value), 0)
  const ranked: RankedItem[] = []
  for (const [number, owner] of owners.entries()) {
    const score = scores[number] ?? 0
    if (score === 0 || (coverage[number] ?? 0) < floor) continue
    const share = Math.min(1, (titleShares[number] ?? 0) / total)
    const fill = Math.min(1, (titleMatches[number] ?? 0) / Math.max(1, titleLengths[number] ?? 0))
    ranked.push({ number, score: score * (1 + TITLE_BONUS * share * fill) * (owner === number ? SKILL_BONUS : 1) })
  }
  return ranked.sort((left, right) => right.score - left.score || left.number - right.number)
}

/**
 * Folds ranked items into results: a skill takes the place of its best member.
 * `unitOf` names the result that an item belongs to, or `null` for none.
 */
export function foldItems(ranked: readonly RankedItem[], unitOf: (item: number) => number | null): RankedUnit[] {
  const units = new Map<number, RankedUnit>()
  for (const { number } of ranked) {
    const unit = unitOf(number)
    if (unit === null) continue
    const known = units.get(unit)
    const files = unit === number ? [] : [number]
    if (known) known.files.push(...files)
    else units.set(unit, { number: unit, files })
  }
  return [...units.values()]
}

/** A whole identifier that stands somewhere says more than its parts; pairs of one run share the weight of its length. */
function weightsOf(terms: readonly MatchedTerm[]): number[] {
  const onlyStopWords = terms.every(({ term }) => isStopWord(term))
  const foundWholes = new Set(terms.filter(({ kind, matches }) => kind === 'whole' && isExact(matches)).map(({ group }) => group))
  const pairs = new Map<number, number>()
  for (const { kind, group } of terms) if (kind === 'pair') pairs.set(group, (pairs.get(group) ?? 0) + 1)

  return terms.map(({ term, kind, group }) => {
    if (kind === 'pair') return 1 / Math.sqrt(pairs.get(group) ?? 1)
    const commonness = !onlyStopWords && isStopWord(term) ? STOP_WORD_WEIGHT : 1
    if (kind !== 'part') return commonness
    return commonness * (foundWholes.has(group) ? PART_OF_FOUND_WEIGHT : PART_WEIGHT)
  })
}

function isExact(matches: readonly TermMatch[]): boolean {
  return matches.some(({ closeness }) => closeness === 1)
}

/**
 * How much it tells that an item has a term which `found` of `items` have: log2 of the odds, in 1/256.
 * The logarithm is linear between powers of two; the built-in one may differ between machines.
 */
export function informationOf(found: number, items: number): number {
  let odds = (items + 1) / (found + 0.5)
  let exponent = 0
  while (odds >= 2) {
    odds /= 2
    exponent++
  }
  return Math.max(LEAST_INFORMATION, 256 * exponent + Math.floor(256 * (odds - 1)))
}

const LEAST_INFORMATION = 16

/** A close term counts this much, divided by the number of edits. */
const CLOSE_WEIGHT = 0.55
const CLOSE_TERMS = 4
// UTF-16 units
const COMPLETION_UNITS = 6
/** Shorter words are not respelled. */
const RESPELLED_UNITS = 4
const TWO_EDITS_UNITS = 8

/**
 * The terms that a word which stands nowhere may mean: its continuations, and those one edit away (two for a long word).
 * Nearest first, then frequent ones; at most `CLOSE_TERMS`.
 */
export function closeTerms(
  { term, kind }: QueryTerm,
  spelling: readonly (readonly [term: string, items: number])[],
): CloseTerm[] {
  if (kind === 'pair' || kind === 'whole' || term.length < RESPELLED_UNITS) return []
  const close = spelling.flatMap(([candidate, items]) => {
    const edits = editsBetween(term, candidate)
    return edits === null ? [] : [{ term: candidate, items, edits }]
  })
  close.sort((left, right) => left.edits - right.edits || right.items - left.items || (left.term < right.term ? -1 : 1))
  return close.slice(0, CLOSE_TERMS).map(({ term: candidate, edits }) => ({ term: candidate, closeness: CLOSE_WEIGHT / edits }))
}

export interface CloseTerm {
  term: string
  closeness: number
}

function editsBetween(term: string, candidate: string): number | null {
  if (candidate.startsWith(term) && candidate.length - term.length <= COMPLETION_UNITS) return 1
  const most = term.length >= TWO_EDITS_UNITS ? 2 : 1
  if (Math.abs(term.length - candidate.length) > most) return null
  const edits = editDistance(term, candidate, most)
  return edits <= most ? edits : null
}

/** Insertions, deletions, substitutions and swaps of neighbours, in UTF-16 units; any number above `most` when there are more than that. */
export function editDistance(left: string, right: string, most: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, column) => column)
  let leastOfLast = 0
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    let least = row
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1]
      let edits = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (isSame ? 0 : 1))
      const isSwap = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      if (isSwap) edits = Math.min(edits, (beforeLast[column - 2] ?? 0) + 1)
      current.push(edits)
      least = Math.min(least, edits)
    }
    // A swap reaches back two rows; from there on it only grows.
    if (least > most && leastOfLast > most) return least
    beforeLast = last
    last = current
    leastOfLast = least
  }
  return last[right.length] ?? 0
}
