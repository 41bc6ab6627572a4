/* Which words of a line changed. Pure. */

/** A piece of a line. */
export interface WordPart {
  text: string
  isChanged: boolean
}

/** A changed line on both sides. The parts of each side joined are the line. */
export interface MarkedLine {
  before: WordPart[]
  after: WordPart[]
}

/** Words of both lines that are compared with each other: some milliseconds. What lies between the first and the last change is marked as a whole beyond. */
const CELLS = 65_536
/** A longer line is not compared by its words. */
const LINE_UNITS = 8_192
/** Lines that have less than this share of their letters in common are two lines, and not one that changed. */
const COMMON_SHARE = 0.3

/** Words, letters of scripts without spaces, runs of spaces, and each other character. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*|[\p{L}\p{N}\p{M}_]+|\s+|./gsu

/** Words that may be compared with each other yet, in lines that are shown together. What is used is taken off. */
export interface WordBudget {
  cells: number
}

/** Words of both sides that one page compares with each other beside its differences: some ten milliseconds. */
export const PAGE_CELLS = 500_000

/**
 * The words that differ between two lines; `null` when they have too little in common, or are too long. Without a budget that suffices, what lies
 * between the first and the last change is marked as a whole.
 */
export function markChangedWords(before: string, after: string, budget?: WordBudget): MarkedLine | null {
  const [old, new_] = [wordsOf(before), wordsOf(after)]
  return old && new_ && compareWords(old, new_, budget)
}

/** `null` for a line that is too long. */
function wordsOf(line: string): readonly string[] | null {
  return line.length > LINE_UNITS ? null : (line.match(WORD) ?? [])
}

function compareWords(old: readonly string[], new_: readonly string[], budget?: WordBudget): MarkedLine | null {
  const [oldKept, newKept] = keptWords(old, new_, budget)
  const common = lettersOf(old.filter((_, index) => oldKept[index]))
  if (common < COMMON_SHARE * Math.max(lettersOf(old), lettersOf(new_))) return null
  return { before: partsOf(old, oldKept), after: partsOf(new_, newKept) }
}

type Kept = boolean[]

/** By word of each side: whether it is among the longest common words. Those of both sides are the same, in the same order. */
function keptWords(old: readonly string[], new_: readonly string[], budget: WordBudget = { cells: CELLS }): [Kept, Kept] {
  let start = 0
  while (start < old.length && start < new_.length && old[start] === new_[start]) start++
  let end = 0
  const shorter = Math.min(old.length, new_.length) - start
  while (end < shorter && old[old.length - 1 - end] === new_[new_.length - 1 - end]) end++
  const oldKept = old.map((_, index) => index < start || index >= old.length - end)
  const newKept = new_.map((_, index) => index < start || index >= new_.length - end)
  const [oldCount, newCount] = [old.length - start - end, new_.length - start - end]
  const cells = oldCount * newCount
  if (cells > Math.min(CELLS, budget.cells)) return [oldKept, newKept]
  budget.cells -= cells
  // `lengths`: of the longest common words of what follows on both sides.
  const width = newCount + 1
  const lengths = new Uint16Array((oldCount + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  const isSame = (i: number, j: number) => old[start + i] === new_[start + j]
  for (let i = oldCount - 1; i >= 0; i--) {
    for (let j = newCount - 1; j >= 0; j--)
      lengths[i * width + j] = isSame(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  for (let i = 0, j = 0; i < oldCount && j < newCount; ) {
    if (isSame(i, j)) {
      oldKept[start + i++] = true
      newKept[start + j++] = true
    } else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return [oldKept, newKept]
}

function partsOf(words: readonly string[], kept: Kept): WordPart[] {
  const parts: WordPart[] = []
  for (const [index, text] of words.entries()) {
    const isChanged = !kept[index]
    const last = parts.at(-1)
    if (last?.isChanged === isChanged) last.text += text
    else parts.push({ text, isChanged })
  }
  return parts
}

function lettersOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + (/\s/.test(word) ? 0 : word.length), 0)
}

/** A piece of both sides of a line in one text. */
export interface MergedPart {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Both sides of a line as one text: what was removed stands before what was added in its place. */
export function mergeWords({ before, after }: MarkedLine): MergedPart[] {
  const merged: MergedPart[] = []
  const [old, new_] = [before.map(part => ({ ...part })), after.map(part => ({ ...part }))]
  for (;;) {
    while (old[0]?.isChanged) merged.push({ kind: 'removed', text: old.shift()?.text ?? '' })
    while (new_[0]?.isChanged) merged.push({ kind: 'added', text: new_.shift()?.text ?? '' })
    const [one, other] = [old[0], new_[0]]
    if (one === undefined || other === undefined) return merged
    // The same text may be cut elsewhere on the other side.
    const units = Math.min(one.text.length, other.text.length)
    merged.push({ kind: 'same', text: one.text.slice(0, units) })
    for (const [parts, part] of [
      [old, one],
      [new_, other],
    ] as const) {
      part.text = part.text.slice(units)
      if (part.text === '') parts.shift()
    }
  }
}

/** Lines of a block that are compared with each other. */
const PAIRED_LINES = 40
/** Words that are compared with each other, for each character of a block: as many as lines need that are compared in their order. */
const CELLS_OF_CHARACTER = 128

/**
 * Pairs the removed with the added lines of one change: in their order, where both are as many; else each removed line with the next added one that
 * has words in common with it. A block of many words that have little in common is not compared to its end.
 *
 * @returns by removed line, the added line and the words that changed; `null` for a line without a counterpart
 */
export function pairLines(removed: readonly string[], added: readonly string[]): ({ added: number; words: MarkedLine } | null)[] {
  const isOneToOne = removed.length === added.length
  if (!isOneToOne && removed.length * added.length > PAIRED_LINES ** 2) return removed.map(() => null)
  const [olds, news] = [removed.map(wordsOf), added.map(wordsOf)]
  let cells = CELLS_OF_CHARACTER * [...removed, ...added].reduce((sum, line) => sum + line.length, 0)
  let next = 0
  return olds.map((old, index) => {
    const end = isOneToOne ? index + 1 : news.length
    for (let at = isOneToOne ? index : next; at < end; at++) {
      const new_ = news[at]
      if (!old || !new_) continue
      cells -= Math.min(old.length * new_.length, CELLS)
      if (cells < 0) return null
      const words = compareWords(old, new_)
      if (words === null) continue
      next = at + 1
      return { added: at, words }
    }
    return null
  })
}
