import library from '@jest/diff-sequences'
import { createPace, type Turn } from '../concurrency/turns.ts'
import { DIFFERENCE_COMPARISONS } from '../limits.ts'
import { ChangedLines, type ChangedRange } from './changed-lines.ts'
import { type NumberedLines, numberLines } from './numbered-lines.ts'

// Its types describe the CommonJS file; Node imports the ES module, whose default is the function itself.
const diffSequences = library as unknown as typeof library.default

/**
 * Compares two texts line by line. Finds a short difference as long as that takes at most `DIFFERENCE_COMPARISONS`; lines between which none
 * was found by then are replaced as a whole.
 *
 * @param turn taken after every piece of work, each of at most some milliseconds
 */
export async function compareLines(
  before: string,
  after: string,
  turn: Turn,
): Promise<{ before: NumberedLines; after: NumberedLines; changes: ChangedLines }> {
  const lines = await numberLines(before, after, turn)
  const [old, new_] = [lines.before.numbers, lines.after.numbers]
  const whole = { oldFrom: 0, oldTo: old.length, newFrom: 0, newTo: new_.length }
  const changes = new ChangedLines()
  const left = { comparisons: DIFFERENCE_COMPARISONS }
  const middle = withoutCommonEnds(old, new_, whole)
  await turn()
  const pace = createPace(turn, COMPARISONS_OF_PIECE)
  const anchors = await findAnchors(old, new_, middle, { count: lines.count, turn })
  let { oldFrom, newFrom } = middle
  for (let at = 0; at <= anchors.length; at += 2) {
    const [oldTo, newTo] = at < anchors.length ? [anchors[at] as number, anchors[at + 1] as number] : [middle.oldTo, middle.newTo]
    const before = left.comparisons
    for (const change of changesIn(old, new_, { oldFrom, oldTo, newFrom, newTo }, left)) changes.add(change)
    oldFrom = oldTo + 1
    newFrom = newTo + 1
    const waiting = pace(COMPARISONS_OF_RANGE + before - left.comparisons)
    if (waiting) await waiting
  }
  return { before: lines.before, after: lines.after, changes }
}

function withoutCommonEnds(old: Int32Array, new_: Int32Array, range: ChangedRange): ChangedRange {
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
 * The lines at which a range is cut: those that occur once in each text, in the longest sequence that both texts have in the same order (patience
 * difference). What lies between is short in most texts.
 *
 * @param count how many numbers lines have
 * @returns their places: old, new, old, new, …
 */
async function findAnchors(
  old: Int32Array,
  new_: Int32Array,
  range: ChangedRange,
  { count, turn }: { count: number; turn: Turn },
): Promise<Int32Array> {
  return await longestRising(await uniqueInBoth(old, new_, range, { count, turn }), turn)
}

/** The places of lines that occur once in each text, in the order of the old one: old, new, old, new, … */
async function uniqueInBoth(
  old: Int32Array,
  new_: Int32Array,
  range: ChangedRange,
  { count, turn }: { count: number; turn: Turn },
): Promise<Int32Array> {
  const oldPlaces = await singlePlaces(old, range.oldFrom, range.oldTo, { count, turn })
  const newPlaces = await singlePlaces(new_, range.newFrom, range.newTo, { count, turn })
  const places = new Int32Array(2 * Math.min(count, range.oldTo - range.oldFrom, range.newTo - range.newFrom))
  let length = 0
  for (let at = range.oldFrom; at < range.oldTo; at++) {
    if ((at - range.oldFrom) % PLACES_AT_ONCE === 0) await turn()
    const number = old[at] as number
    const newPlace = newPlaces[number] as number
    if (newPlace <= 0 || (oldPlaces[number] as number) <= 0) continue
    places[length++] = at
    places[length++] = newPlace - 1
  }
  return places.subarray(0, length)
}

/** By the number of a line: its place plus 1 if it occurs once in a range, 0 if it does not occur, -1 if it occurs more than once. */
async function singlePlaces(
  lines: Int32Array,
  from: number,
  to: number,
  { count, turn }: { count: number; turn: Turn },
): Promise<Int32Array> {
  const places = new Int32Array(count)
  for (let at = from; at < to; at++) {
    if ((at - from) % PLACES_AT_ONCE === 0) await turn()
    const number = lines[at] as number
    places[number] = places[number] === 0 ? at + 1 : -1
  }
  return places
}

/** Places that are looked at before others may get their turn. */
const PLACES_AT_ONCE = 4_096

/** The longest increasing subsequence of the pairs by their second places, by patience sorting. */
async function longestRising(places: Int32Array, turn: Turn): Promise<Int32Array> {
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
  const rising = new Int32Array(2 * length)
  let at = length === 0 ? -1 : (tops[length - 1] as number)
  for (let end = rising.length; at >= 0; end -= 2) {
    rising[end - 2] = places[2 * at] as number
    rising[end - 1] = newPlace(at)
    at = before[at] as number
  }
  return rising
}

/** Thrown to end a search for a difference that takes too long. */
class TooManyComparisons extends Error {}

/** Comparisons of one call of the library, which cannot be interrupted: some milliseconds. */
const COMPARISONS_AT_ONCE = 100_000
/** After so many, others may get their turn: some hundred small ranges, which take milliseconds before they are compiled. */
const COMPARISONS_OF_PIECE = 16_384
/** What a range takes besides, in comparisons. */
const COMPARISONS_OF_RANGE = 32

/** The changes in a range: exact while comparisons are `left`, else the whole range. An empty one may be among them. */
function changesIn(old: Int32Array, new_: Int32Array, whole: ChangedRange, left: { comparisons: number }): ChangedRange[] {
  const range = withoutCommonEnds(old, new_, whole)
  const { oldFrom, oldTo, newFrom, newTo } = range
  // The ends of the range differ.
  const isOneLine = oldTo - oldFrom === 1 && newTo - newFrom === 1
  if (oldFrom === oldTo || newFrom === newTo || isOneLine) return [range]
  let allowed = Math.min(left.comparisons, COMPARISONS_AT_ONCE)
  const granted = allowed
  const found: ChangedRange[] = []
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
        found.push({ oldFrom: oldAt, oldTo: oldFrom + oldIndex, newFrom: newAt, newTo: newFrom + newIndex })
        oldAt = oldFrom + oldIndex + count
        newAt = newFrom + newIndex + count
      },
    )
  } catch (error) {
    if (!(error instanceof TooManyComparisons)) throw error
    left.comparisons -= granted
    return [range]
  }
  left.comparisons -= granted - allowed
  found.push({ oldFrom: oldAt, oldTo, newFrom: newAt, newTo })
  return found
}
