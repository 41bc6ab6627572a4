import { analyze, type TermKind } from '#core/search/analyze.ts'
import { otherWords } from './synonyms.ts'
import { FULL } from './weights.ts'

/** One term that a query asks for. */
export interface QueryTerm {
  term: string
  kind: TermKind
  /** Terms of one identifier, or of one run of characters, share it. */
  group: number
  /** `FULL`, or less for another word of the same meaning, which the query does not have itself. Such a word is not respelled. */
  weight: number
}

/** Words, identifiers and runs of characters that count. */
export const QUERY_GROUPS = 32
export const QUERY_TERMS = 64

/** What another word of the same meaning counts. */
const SYNONYM_WEIGHT = FULL / 4

/**
 * The different terms of a query in its order, at most `QUERY_TERMS` of its first `QUERY_GROUPS` words, then triples of characters and words of
 * the same meaning while there is room.
 *
 * Nothing in a query is an operator: signs only part words.
 */
export function planQuery(query: string): QueryTerm[] {
  const terms = new Map<string, QueryTerm>()
  const add = (term: QueryTerm) => {
    if (terms.size < QUERY_TERMS && !terms.has(term.term)) terms.set(term.term, term)
  }
  // The last term of a group stands for it: of an identifier the whole.
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
  for (const [index, term] of otherWords(words).entries()) {
    add({ term, kind: 'word', group: words.length + index, weight: SYNONYM_WEIGHT })
  }
  return [...terms.values()]
}
