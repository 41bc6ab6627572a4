import library from '@jest/diff-sequences'
import { createTurns, type Turn } from '../concurrency/turns.ts'
import { COMPARED_SLICE_MS, DIFFERENCE_COMPARISONS } from '../limits.ts'
import { eachLine } from './lines.ts'

// Its types describe the CommonJS file; Node imports the ES module, whose default is the function itself.
const diffSequences = library as unknown as typeof library.default

/** Lines of the old text that lines of the new one replace: both as half-open ranges of line numbers from 0. One of them may be empty. */
export interface ChangedLines {
  oldFrom: number
  oldTo: number
  newFrom: number
  newTo: number
}

/** A text by its lines. */
export interface LinesOfText {
  text: string
  /** Where each line begins, and the end of the text. */
  starts: readonly number[]
}

/**
 * Compares two texts line by line, and yields to other requests all along. Finds a short difference as long as that takes at most
 * `DIFFERENCE_COMPARISONS`; lines between which none was found by then are replaced as a whole.
 */
export async function compareLines(
  before: string,
  after: string,
): Promise<{ before: LinesOfText; after: LinesOfText; changes: ChangedLines[] }> {
  const turn = createTurns(undefined, COMPARED_SLICE_MS)
  const ids = new Map<string, number>()
  const old = await readLines(before, ids, turn)
  const new_ = await readLines(after, ids, turn)
  const whole = { oldFrom: 0, oldTo: old.ids.length, newFrom: 0, newTo: new_.ids.length }
  const changes: ChangedLines[] = []
  const left = { comparisons: DIFFERENCE_COMPARISONS }
  const middle = withoutCommonEnds(old.ids, new_.ids, whole)
  await turn()
  for (const range of await splitAtAnchors(old.ids, new_.ids, middle, { ids: ids.size, turn })) {
    await turn()
    for (const change of await compareRange(old.ids, new_.ids, range, left, turn)) append(changes, change)
  }
  return { before: old.lines, after: new_.lines, changes }
}

interface NumberedLines {
  lines: LinesOfText
  /** The same number for the same line. */
  ids: number[]
}

async function readLines(text: string, known: Map<string, number>, turn: Turn): Promise<NumberedLines> {
  const ids: number[] = []
  const starts: number[] = []
  for (let at = 0; at < text.length; ) {
    at = eachLine(text, at, (line, start) => {
      const id = known.get(line) ?? known.size
      if (id === known.size) known.set(line, id)
      ids.push(id)
      starts.push(start)
    })
    await turn()
  }
  starts.push(text.length)
  return { lines: { text, starts }, ids }
}

function withoutCommonEnds(old: readonly number[], new_: readonly number[], range: ChangedLines): ChangedLines {
  let { oldFrom, oldTo, newFrom, newTo } = range
  while (oldFrom < oldTo && newFrom < newTo && old[oldFrom] === new_[newFrom]) {
    oldFrom++
    newFrom++
  }
  while (oldFrom < oldTo && newFrom < newTo && old[oldTo - 1] === new_[newTo - 1]) {
    oldTo--
    newTo--
  }
  return { oldFrom, oldTo, newFrom, newTo }
}

/**
 * Cuts a range at lines that occur once in each text, in the longest sequence that both texts have in the same order (patience difference). What
 * lies between is short in most texts.
 *
 * @param ids how many different lines there are
 */
async function splitAtAnchors(
  old: readonly number[],
  new_: readonly number[],
  range: ChangedLines,
  { ids, turn }: { ids: number; turn: Turn },
): Promise<ChangedLines[]> {
  const ranges: ChangedLines[] = []
  let { oldFrom, newFrom } = range
  const add = (oldTo: number, newTo: number) => {
    if (oldFrom < oldTo || newFrom < newTo) ranges.push({ oldFrom, oldTo, newFrom, newTo })
    oldFrom = oldTo + 1
    newFrom = newTo + 1
  }
  const unique = uniqueInBoth(old, new_, range, ids)
  await turn()
  const anchors = await longestRising(unique, turn)
  for (let at = 0; at < anchors.length; at += 2) add(anchors[at] as number, anchors[at + 1] as number)
  add(range.oldTo, range.newTo)
  return ranges
}

/** The places of lines that occur once in each text, in the order of the old one: old, new, old, new, … */
function uniqueInBoth(old: readonly number[], new_: readonly number[], range: ChangedLines, ids: number): number[] {
  const oldCounts = new Int32Array(ids)
  const newCounts = new Int32Array(ids)
  const newPlaces = new Int32Array(ids)
  for (let at = range.oldFrom; at < range.oldTo; at++) oldCounts[old[at] as number] = (oldCounts[old[at] as number] as number) + 1
  for (let at = range.newFrom; at < range.newTo; at++) {
    const id = new_[at] as number
    newCounts[id] = (newCounts[id] as number) + 1
    newPlaces[id] = at
  }
  const places: number[] = []
  for (let at = range.oldFrom; at < range.oldTo; at++) {
    const id = old[at] as number
    if (oldCounts[id] === 1 && newCounts[id] === 1) places.push(at, newPlaces[id] as number)
  }
  return places
}

/** Places that are looked at before others get their turn. */
const PLACES_AT_ONCE = 8_192

/** The longest subsequence of pairs whose second places rise, by patience sorting. */
async function longestRising(places: readonly number[], turn: Turn): Promise<number[]> {
  const count = places.length / 2
  const newPlace = (index: number) => places[2 * index + 1] as number
  const tops = new Int32Array(count)
  const before = new Int32Array(count)
  let length = 0
  for (let index = 0; index < count; index++) {
    if (index % PLACES_AT_ONCE === 0) await turn()
    let low = 0
    let high = length
    while (low < high) {
      const middle = (low + high) >> 1
      if (newPlace(tops[middle] as number) < newPlace(index)) low = middle + 1
      else high = middle
    }
    before[index] = low === 0 ? -1 : (tops[low - 1] as number)
    tops[low] = index
    if (low === length) length++
  }
  const rising: number[] = []
  for (let at = length === 0 ? -1 : (tops[length - 1] as number); at >= 0; at = before[at] as number)
    rising.push(newPlace(at), places[2 * at] as number)
  return rising.reverse()
}

/** Thrown to end a search for a difference that takes too long. */
class TooManyComparisons extends Error {}

/** Comparisons of one call of the library, which cannot be interrupted: some milliseconds. */
const COMPARISONS_AT_ONCE = 100_000

/** The changes in a range: exact while comparisons are `left`, else the whole range. */
async function compareRange(
  old: readonly number[],
  new_: readonly number[],
  whole: ChangedLines,
  left: { comparisons: number },
  turn: Turn,
): Promise<ChangedLines[]> {
  const range = withoutCommonEnds(old, new_, whole)
  const { oldFrom, oldTo, newFrom, newTo } = range
  if (oldFrom === oldTo || newFrom === newTo) return oldFrom === oldTo && newFrom === newTo ? [] : [range]
  let allowed = Math.min(left.comparisons, COMPARISONS_AT_ONCE)
  const granted = allowed
  const changes: ChangedLines[] = []
  let [oldAt, newAt] = [oldFrom, newFrom]
  try {
    diffSequences(
      oldTo - oldFrom,
      newTo - newFrom,
      (oldIndex, newIndex) => {
        if (--allowed < 0) throw new TooManyComparisons()
        return old[oldFrom + oldIndex] === new_[newFrom + newIndex]
      },
      (count, oldIndex, newIndex) => {
        append(changes, { oldFrom: oldAt, oldTo: oldFrom + oldIndex, newFrom: newAt, newTo: newFrom + newIndex })
        oldAt = oldFrom + oldIndex + count
        newAt = newFrom + newIndex + count
      },
    )
  } catch (error) {
    if (!(error instanceof TooManyComparisons)) throw error
    left.comparisons -= granted
    await turn()
    return [range]
  }
  left.comparisons -= granted - allowed
  append(changes, { oldFrom: oldAt, oldTo, newFrom: newAt, newTo })
  return changes
}

/** Adds a change; one that follows the last one immediately becomes a part of it. */
function append(changes: ChangedLines[], change: ChangedLines): void {
  if (change.oldFrom === change.oldTo && change.newFrom === change.newTo) return
  const last = changes.at(-1)
  if (last && last.oldTo === change.oldFrom && last.newTo === change.newFrom) {
    last.oldTo = change.oldTo
    last.newTo = change.newTo
  } else changes.push({ ...change })
}
