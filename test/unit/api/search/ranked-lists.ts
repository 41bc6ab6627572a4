import { FULL } from '#api/search/fixed-point.ts'
import { type Ranking, RankingBuffers, rankItems } from '#api/search/ranking.ts'
import type { MatchedTerm } from '#api/search/term-weights.ts'
import { ITEM_KIND } from '#core/search/head.ts'
import { PLACE, packPosting } from '#core/search/postings.ts'
import { encodePostings } from '#test/support/posting-list.ts'

export type Row = readonly (readonly [item: number, posting: number])[]

export function listOf(row: Row, closeness = FULL) {
  return { items: row.length, postings: encodePostings(row), closeness }
}

export function matched(term: string, row: Row, group = 0, kind: MatchedTerm['kind'] = 'word', weight = FULL): MatchedTerm {
  return { term, kind, group, weight, matches: row.length === 0 ? [] : [listOf(row)] }
}

/** Documents whose titles have two terms; skills where their numbers are named. */
export function headOf(
  items: number,
  { skills = [] as number[], titles = [] as number[], files = [] as number[], asides = [] as number[] } = {},
) {
  const kindOf = (item: number) => (skills.includes(item) ? 'skill' : files.includes(item) ? 'file' : 'document')
  const kinds = Uint8Array.from({ length: items }, (_, item) => ITEM_KIND[kindOf(item)])
  const aside = Uint8Array.from({ length: items }, (_, item) => (asides.includes(item) ? 1 : 0))
  return {
    kinds,
    asides: aside,
    copies: new Map<number, number>(),
    titleLengths: Uint8Array.from({ length: items }, (_, item) => titles[item] ?? 2),
  }
}

/** A million skills whose titles have so many terms. */
export function millionOf(titleLength: number): ReturnType<typeof headOf> {
  const [kinds, asides] = [new Uint8Array(1_000_000), new Uint8Array(1_000_000)]
  return { kinds, asides, copies: new Map(), titleLengths: new Uint8Array(1_000_000).fill(titleLength) }
}

export function rank(terms: readonly MatchedTerm[], head: ReturnType<typeof headOf>): Ranking {
  return rankItems(new RankingBuffers(), terms, head)
}

export function scoresOf(terms: readonly MatchedTerm[], head: ReturnType<typeof headOf>): number[] {
  return [...rank(terms, head).scores]
}

export function order(terms: readonly MatchedTerm[], head: ReturnType<typeof headOf>): number[] {
  const { scores } = rank(terms, head)
  const items = [...scores.keys()].filter(item => (scores[item] ?? 0) > 0)
  return items.sort((left, right) => (scores[right] ?? 0) - (scores[left] ?? 0) || left - right)
}

export const weak = packPosting(10, PLACE.body)
export const strong = packPosting(60, PLACE.body)
export const named = packPosting(60, PLACE.named)
export const titled = packPosting(60, PLACE.title)
