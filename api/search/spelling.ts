import type { SpellingEntry } from '#core/search/words-block.ts'
import { FULL } from './weights.ts'

/** A word that a misspelled one may mean. */
export interface CloseWord {
  word: string
  /** Less than `FULL`: the more edits lie between, the less. */
  closeness: number
}

/** Closeness of one edit; more edits divide it. */
const CLOSENESS = Math.floor(0.55 * FULL)
const CLOSE_WORDS = 4
// UTF-16 units
const RESPELLED_UNITS = { min: 4, max: 40 }
const TWO_EDITS_UNITS = 8
/** Units that a continuation may add. */
export const COMPLETION_UNITS = 6

/** Whether there are words that it may mean at all. */
export function isRespelled({ length }: string): boolean {
  return length >= RESPELLED_UNITS.min && length <= RESPELLED_UNITS.max
}

/** How many edits may lie between a word and one that it may mean. */
export function editsOf({ length }: string): number {
  return length >= TWO_EDITS_UNITS ? 2 : 1
}

/**
 * The words that a term which stands nowhere may mean: its continuations, and those one edit away (two for a long word).
 * Nearest first, then frequent ones, then by units; at most `CLOSE_WORDS`.
 */
export function closeWords(term: string, words: Iterable<SpellingEntry>): CloseWord[] {
  if (!isRespelled(term)) return []
  const close: (SpellingEntry & { edits: number })[] = []
  for (const { word, items } of words) {
    const edits = editsTo(term, word)
    if (edits > 0) close.push({ word, items, edits })
  }
  close.sort((left, right) => left.edits - right.edits || right.items - left.items || (left.word < right.word ? -1 : 1))
  return close.slice(0, CLOSE_WORDS).map(({ word, edits }) => ({ word, closeness: Math.floor(CLOSENESS / edits) }))
}

/** 0 when the word is too far away. */
function editsTo(term: string, word: string): number {
  const longer = word.length - term.length
  if (longer > 0 && longer <= COMPLETION_UNITS && word.startsWith(term)) return 1
  const most = editsOf(term)
  if (longer > most || longer < -most) return 0
  const edits = editDistance(term, word, most)
  return edits > most ? 0 : edits
}

/**
 * Insertions, deletions, substitutions and swaps of neighbours, in UTF-16 units; any number above `most` when there are more than that.
 * Made for few edits: what is alike takes none, and every unlike place is tried in four ways.
 */
export function editDistance(left: string, right: string, most: number, leftFrom = 0, rightFrom = 0): number {
  let leftAt = leftFrom
  let rightAt = rightFrom
  while (leftAt < left.length && rightAt < right.length && left.charCodeAt(leftAt) === right.charCodeAt(rightAt)) {
    leftAt++
    rightAt++
  }
  const leftRest = left.length - leftAt
  const rightRest = right.length - rightAt
  if (leftRest === 0 || rightRest === 0) return leftRest + rightRest
  if (most === 0 || Math.abs(leftRest - rightRest) > most) return most + 1

  const substituted = editDistance(left, right, most - 1, leftAt + 1, rightAt + 1)
  const deleted = editDistance(left, right, most - 1, leftAt + 1, rightAt)
  const inserted = editDistance(left, right, most - 1, leftAt, rightAt + 1)
  const isSwap =
    left.charCodeAt(leftAt) === right.charCodeAt(rightAt + 1) && left.charCodeAt(leftAt + 1) === right.charCodeAt(rightAt)
  const swapped = isSwap ? editDistance(left, right, most - 1, leftAt + 2, rightAt + 2) : most
  return 1 + Math.min(substituted, deleted, inserted, swapped)
}
