import { createLimit } from '#core/concurrency/fair-gate.ts'
import { createYielder } from '#core/concurrency/yielding.ts'
import type { DocumentListing } from '#core/contract/shared.ts'
import type { StoredItem } from '#core/search/items-block.ts'
import type { Loaded } from '../snapshot/cache.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { FULL } from './fixed-point.ts'
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

/** A search for passages. */
export interface PassageSearch {
  terms: readonly WeightedTerm[]
  /** Lets other requests run between texts: a page can have a hundred long ones. */
  inTurn: <Value>(work: () => Value) => Promise<Value>
}

const SLICE_MS = 10

export function createPassageSearch(terms: readonly WeightedTerm[]): PassageSearch {
  const limit = createLimit(1)
  const yieldIfDue = createYielder(undefined, SLICE_MS)
  return {
    terms,
    inTurn: work =>
      limit(async () => {
        await yieldIfDue()
        return work()
      }),
  }
}

/** The listing of an item, with the best passage of its text; if there is none, with its own summary. */
export async function readListing(
  snapshot: Snapshot,
  { path, title, summary, text }: StoredItem,
  { terms, inTurn }: PassageSearch,
): Promise<DocumentListing> {
  if (text === null) return { path, title, summary }
  const markup = markupOf(path)
  const readable = await snapshot.derived(`readable ${markup}`, text, bytes => inTurn(() => readBeginning(markup, bytes)))
  return { path, title, summary: (await inTurn(() => bestPassage(readable, terms))) ?? summary }
}

function readBeginning(markup: Markup, bytes: Uint8Array): Loaded<ReadableText> {
  // `stream` drops a character that the cut splits.
  const beginning = new TextDecoder().decode(bytes.subarray(0, PASSAGE_TEXT_SIZE), { stream: true })
  const value = readableText(markup, beginning)
  return { value, sizeBytes: sizeOfReadable(value) }
}

/** A term of a query with the matching terms of the dictionary; `items`: how many items have each. */
interface FoundTerm extends Pick<QueryTerm, 'kind' | 'weight'> {
  matches: readonly { term: string; closeness: number; items: number }[]
}

/** The terms to look for in passages, with their weights among so many items. */
export function passageTerms(terms: readonly FoundTerm[], items: number): WeightedTerm[] {
  return terms.flatMap(({ kind, weight, matches }) => {
    // A text that contains a triple contains its pairs.
    if (kind === 'triple') return []
    return matches.map(({ term, closeness, items: found }) => {
      return { term, weight: Math.floor((weight * closeness * informationOf(found, items)) / FULL ** 2) }
    })
  })
}
