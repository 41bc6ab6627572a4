import type { SpellingEntry } from '#core/search/blocks.ts'
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
/** Shorter words are not respelled. */
const LEAST_UNITS = 4
const MOST_UNITS = 40
const TWO_EDITS_UNITS = 8
/** Units that a continuation may add. */
const COMPLETION_UNITS = 6

/**
 * The words that a term which stands nowhere may mean: its continuations, and those one edit away (two for a long word).
 * Nearest first, then frequent ones, then by units; at most `CLOSE_WORDS`.
 */
export function closeWords(term: string, words: Iterable<SpellingEntry>): CloseWord[] {
  if (term.length < LEAST_UNITS || term.length > MOST_UNITS) return []
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
  const most = term.length >= TWO_EDITS_UNITS ? 2 : 1
  if (longer > most || longer < -most) return 0
  const edits = editDistance(term, word, most)
  return edits > most ? 0 : edits
}

/** Insertions, deletions, substitutions and swaps of neighbours, in UTF-16 units; any number above `most` when there are more than that. */
export function editDistance(left: string, right: string, most: number): number {
  let start = 0
  while (start < left.length && left.charCodeAt(start) === right.charCodeAt(start)) start++
  let leftEnd = left.length
  let rightEnd = right.length
  while (leftEnd > start && rightEnd > start && left.charCodeAt(leftEnd - 1) === right.charCodeAt(rightEnd - 1)) {
    leftEnd--
    rightEnd--
  }
  // What is alike at both ends takes no edit.
  return distanceBetween(left.slice(start, leftEnd), right.slice(start, rightEnd), most)
}

function distanceBetween(left: string, right: string, most: number): number {
  const columns = right.length
  if (Math.abs(left.length - columns) > most) return most + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: columns + 1 }, (_, column) => column)
  let leastOfLast = 0
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    let least = row
    for (let column = 1; column <= columns; column++) {
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
  return last[columns] ?? 0
}
