import type { SpellingEntry } from '#core/search/words-block.ts'
import { FULL } from './fixed-point.ts'

/** A word that is close to a misspelled one. */
export interface CloseWord {
  word: string
  /** Less than `FULL`, and less for more edits. */
  closeness: number
}

/** Closeness at one edit. It is divided by the number of edits. */
const ONE_EDIT_CLOSENESS = Math.floor(0.55 * FULL)
const CLOSE_WORDS = 4
/** Shorter and longer words are not respelled. UTF-16 units. */
const RESPELLED_UNITS = { min: 4, max: 40 }
/** Words from this length on may differ by two edits. UTF-16 units. */
const TWO_EDITS_UNITS = 8
/** How much longer a continuation can be. UTF-16 units. */
export const COMPLETION_UNITS = 6

/** Whether a word has a length at which it is respelled. */
export function isRespelled({ length }: string): boolean {
  return length >= RESPELLED_UNITS.min && length <= RESPELLED_UNITS.max
}

/** How many edits a close word may differ by. */
export function editsOf({ length }: string): number {
  return length >= TWO_EDITS_UNITS ? 2 : 1
}

/**
 * The words close to a term that no item has: its continuations, and words within one edit (two for a long term).
 * Ordered by edits, then by frequency, then by code units; at most `CLOSE_WORDS`.
 */
export function closeWords(term: string, words: Iterable<SpellingEntry>): CloseWord[] {
  if (!isRespelled(term)) return []
  const close: (SpellingEntry & { edits: number })[] = []
  for (const { word, items } of words) {
    const edits = editsTo(term, word)
    if (edits > 0) close.push({ word, items, edits })
  }
  close.sort((left, right) => left.edits - right.edits || right.items - left.items || (left.word < right.word ? -1 : 1))
  return close.slice(0, CLOSE_WORDS).map(({ word, edits }) => ({ word, closeness: Math.floor(ONE_EDIT_CLOSENESS / edits) }))
}

/** The edits from the term to a word; 1 for a continuation, 0 for a word that is not close. */
function editsTo(term: string, word: string): number {
  const longer = word.length - term.length
  if (longer > 0 && longer <= COMPLETION_UNITS && word.startsWith(term)) return 1
  const maxEdits = editsOf(term)
  if (longer > maxEdits || longer < -maxEdits) return 0
  const edits = editDistance(term, word, maxEdits)
  return edits > maxEdits ? 0 : edits
}

/**
 * The number of insertions, deletions, substitutions and swaps of neighbours between two texts, in UTF-16 units; any number above `maxEdits` when
 * there are more than `maxEdits`.
 *
 * Recursive: each difference is tried in four ways, so time is exponential in `maxEdits`, which is at most 2.
 */
export function editDistance(left: string, right: string, maxEdits: number, leftFrom = 0, rightFrom = 0): number {
  let leftAt = leftFrom
  let rightAt = rightFrom
  while (leftAt < left.length && rightAt < right.length && left.charCodeAt(leftAt) === right.charCodeAt(rightAt)) {
    leftAt++
    rightAt++
  }
  const leftRest = left.length - leftAt
  const rightRest = right.length - rightAt
  if (leftRest === 0 || rightRest === 0) return leftRest + rightRest
  if (maxEdits === 0 || Math.abs(leftRest - rightRest) > maxEdits) return maxEdits + 1

  const substituted = editDistance(left, right, maxEdits - 1, leftAt + 1, rightAt + 1)
  const deleted = editDistance(left, right, maxEdits - 1, leftAt + 1, rightAt)
  const inserted = editDistance(left, right, maxEdits - 1, leftAt, rightAt + 1)
  const isSwap =
    left.charCodeAt(leftAt) === right.charCodeAt(rightAt + 1) && left.charCodeAt(leftAt + 1) === right.charCodeAt(rightAt)
  const swapped = isSwap ? editDistance(left, right, maxEdits - 1, leftAt + 2, rightAt + 2) : maxEdits
  return 1 + Math.min(substituted, deleted, inserted, swapped)
}
