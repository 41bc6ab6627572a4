import type { Slices } from '#core/concurrency/slices.ts'
import type { DocumentListing } from '#core/contract/shared.ts'
import type { StoredItem } from '#core/search/items-block.ts'
import type { Loaded } from '../snapshot/cache.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { bestPassage } from './passage/best-passage.ts'
import {
  type Markup,
  markupOf,
  PASSAGE_TEXT_SIZE,
  type ReadableText,
  readableText,
  sizeOfReadable,
} from './passage/readable-text.ts'
import type { WeightedTerm } from './passage/term-places.ts'
import type { QueryTerm } from './query.ts'
import { informationOf } from './term-weights.ts'
import { FULL } from './weights.ts'

/** What passages are looked for. Those of a page take turns: a hundred long texts would hold up everyone else. */
export interface WantedPassage {
  terms: readonly WeightedTerm[]
  slices: Slices
}

/** An item with the passage of its text that tells most of what was asked for, else with its own summary. */
export async function readListing(
  snapshot: Snapshot,
  { path, title, summary, text }: StoredItem,
  { terms, slices }: WantedPassage,
): Promise<DocumentListing> {
  if (text === null) return { path, title, summary }
  const markup = markupOf(path)
  const readable = await snapshot.derived(`readable ${markup}`, text, bytes => slices(() => readBeginning(markup, bytes)))
  return { path, title, summary: (await slices(() => bestPassage(readable, terms))) ?? summary }
}

function readBeginning(markup: Markup, bytes: Uint8Array): Loaded<ReadableText> {
  // A character that the cut splits is left out.
  const beginning = new TextDecoder().decode(bytes.subarray(0, PASSAGE_TEXT_SIZE), { stream: true })
  const value = readableText(markup, beginning)
  return { value, size: sizeOfReadable(value) }
}

/** A term of a query with the terms of the dictionary that answer it; `items`: how many have each. */
interface AnsweredTerm extends Pick<QueryTerm, 'kind' | 'weight'> {
  matches: readonly { term: string; closeness: number; items: number }[]
}

export function passageTerms(terms: readonly AnsweredTerm[], items: number): WeightedTerm[] {
  return terms.flatMap(({ kind, weight, matches }) => {
    // Where a triple stands, so do its pairs.
    if (kind === 'triple') return []
    return matches.map(({ term, closeness, items: found }) => {
      return { term, weight: Math.floor((weight * closeness * informationOf(found, items)) / FULL ** 2) }
    })
  })
}
