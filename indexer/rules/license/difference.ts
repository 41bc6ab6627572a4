/** A run of words that only one of two texts has. `at`, `textAt`: the numbers of words of the first and of the second text before it. */
export interface Run {
  at: number
  textAt: number
  words: string[]
}

export interface Difference {
  /** Words of the first text that the second lacks, in order. */
  deleted: Run[]
  /** Words of the second text that the first lacks, in order. */
  inserted: Run[]
  deletedWords: number
  insertedWords: number
}

/**
 * The shortest word-level difference (Myers), or `null` when more than `maxWords` words differ.
 * Time is `O((n + m) + maxWords²)` and memory `O(maxWords²)`, whatever the texts.
 */
export function wordDifference(from: readonly string[], to: readonly string[], maxWords: number): Difference | null {
  if (Math.abs(from.length - to.length) > maxWords) return null
  const trace = shortestPath(from, to, maxWords)
  return trace === null ? null : runsOf(from, to, trace)
}

/** For each number of edits, the furthest position in `from` on each diagonal, at index `diagonal + edits`. */
function shortestPath(from: readonly string[], to: readonly string[], maxWords: number): Int32Array[] | null {
  const trace: Int32Array[] = []
  for (let edits = 0; edits <= maxWords; edits++) {
    const reach = new Int32Array(2 * edits + 1)
    const before = trace[edits - 1]
    trace.push(reach)
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = before === undefined ? 0 : nextStart(before, edits, diagonal)
      // A diagonal outside the texts stays where it is.
      while (x < from.length && x - diagonal < to.length && x >= diagonal && from[x] === to[x - diagonal]) x++
      reach[diagonal + edits] = x
      if (x >= from.length && x - diagonal >= to.length) return trace
    }
  }
  return null
}

function nextStart(before: Int32Array, edits: number, diagonal: number): number {
  return isInsertion(before, edits, diagonal) ? reachOf(before, edits, diagonal + 1) : reachOf(before, edits, diagonal - 1) + 1
}

function isInsertion(before: Int32Array, edits: number, diagonal: number): boolean {
  return (
    diagonal === -edits || (diagonal !== edits && reachOf(before, edits, diagonal - 1) < reachOf(before, edits, diagonal + 1))
  )
}

function reachOf(before: Int32Array, edits: number, diagonal: number): number {
  return before[diagonal + edits - 1] ?? 0
}

function runsOf(from: readonly string[], to: readonly string[], trace: readonly Int32Array[]): Difference {
  const difference: Difference = { deleted: [], inserted: [], deletedWords: 0, insertedWords: 0 }
  let x = from.length
  let y = to.length
  for (let edits = trace.length - 1; edits > 0; edits--) {
    const before = trace[edits - 1] as Int32Array
    const diagonal = x - y
    const insertion = isInsertion(before, edits, diagonal)
    const previous = diagonal + (insertion ? 1 : -1)
    x = reachOf(before, edits, previous)
    y = x - previous
    if (insertion) {
      addWord(difference.inserted, { at: x, textAt: y }, x, to[y])
      difference.insertedWords++
    } else {
      addWord(difference.deleted, { at: x, textAt: y }, x + 1, from[x])
      difference.deletedWords++
    }
  }
  for (const runs of [difference.deleted, difference.inserted]) {
    runs.reverse()
    for (const run of runs) run.words.reverse()
  }
  return difference
}

/** Adds a word, walking backwards: it joins the run that begins where the word ends. */
function addWord(runs: Run[], place: Omit<Run, 'words'>, nextAt: number, word: string | undefined): void {
  if (word === undefined) return
  const last = runs.at(-1)
  if (last !== undefined && last.at === nextAt) {
    last.words.push(word)
    Object.assign(last, place)
  } else runs.push({ ...place, words: [word] })
}
