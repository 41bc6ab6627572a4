import { analyze, type TermKind } from '#core/search/analyze.ts'
import { FULL } from './fixed-point.ts'
import { synonymsOf } from './synonyms.ts'

/** A term of a query. */
export interface QueryTerm {
  term: string
  kind: TermKind
  /** The same for the terms of one identifier, or of one run of characters. */
  group: number
  /** `FULL`, or less for a synonym, which the query itself does not contain. Synonyms are not respelled. */
  weight: number
}

/** Further words, identifiers and runs of characters are ignored. */
export const QUERY_GROUPS = 96
/** Further terms are ignored. */
export const QUERY_TERMS = 160

const SYNONYM_WEIGHT = FULL / 4

/**
 * The distinct terms of a query: those of its first `QUERY_GROUPS` words in order, then triples of characters, then synonyms; at most
 * `QUERY_TERMS` in all.
 *
 * A query has no operators: signs only separate words.
 */
export function planQuery(query: string): QueryTerm[] {
  const terms = new Map<string, QueryTerm>()
  const add = (term: QueryTerm) => {
    if (terms.size < QUERY_TERMS && !terms.has(term.term)) terms.set(term.term, term)
  }
  // The last term of each group: of an identifier the whole identifier.
  const words: string[] = []
  const triples: QueryTerm[] = []
  const visit = (term: string, kind: TermKind, group: number) => {
    if (group >= QUERY_GROUPS) return
    if (kind === 'triple') triples.push({ term, kind, group, weight: FULL })
    else add({ term, kind, group, weight: FULL })
    words[group] = term
  }
  analyze(query, visit, { triples: true })
  triples.forEach(add)
  for (const [index, term] of synonymsOf(words).entries()) {
    add({ term, kind: 'word', group: words.length + index, weight: SYNONYM_WEIGHT })
  }
  return [...terms.values()]
}
