import { createTurns } from '../concurrency/turns.ts'
import { COMPARED_SLICE_MS } from '../limits.ts'
import { type ChangedLines, compareLines, type LinesOfText } from './line-difference.ts'

/** Unchanged lines around a change. */
const CONTEXT_LINES = 3

/**
 * The unified difference of two texts, as git writes it without the headers of files; `''` when they are the same. Lines end at `\n` only.
 * Yields to other requests all along.
 */
export async function unifiedDifference(before: string, after: string): Promise<string> {
  if (before === after) return ''
  const compared = await compareLines(before, after)
  const turn = createTurns(undefined, COMPARED_SLICE_MS)
  const pieces: string[] = []
  for (const hunk of hunksOf(compared.changes, compared.before.starts.length - 1)) {
    for (const piece of writeHunk(hunk, compared.before, compared.after)) {
      pieces.push(piece)
      await turn()
    }
  }
  return pieces.join('')
}

interface Hunk {
  changes: readonly ChangedLines[]
  /** Context before the first change and after the last one, in lines. */
  before: number
  after: number
}

/** Changes whose contexts touch or overlap make one hunk. */
function hunksOf(changes: readonly ChangedLines[], oldLines: number): Hunk[] {
  const groups: ChangedLines[][] = []
  for (const change of changes) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    if (group && last && change.oldFrom - last.oldTo <= 2 * CONTEXT_LINES) group.push(change)
    else groups.push([change])
  }
  return groups.map(group => ({
    changes: group,
    before: Math.min(CONTEXT_LINES, group[0]?.oldFrom ?? 0),
    after: Math.min(CONTEXT_LINES, oldLines - (group.at(-1)?.oldTo ?? 0)),
  }))
}

function* writeHunk({ changes, before, after }: Hunk, old: LinesOfText, new_: LinesOfText): Generator<string> {
  const [first, last] = [changes[0], changes.at(-1)]
  if (first === undefined || last === undefined) return
  const oldFrom = first.oldFrom - before
  const newFrom = first.newFrom - before
  yield `@@ -${rangeOf(oldFrom, last.oldTo + after)} +${rangeOf(newFrom, last.newTo + after)} @@\n`
  let at = oldFrom
  for (const change of changes) {
    yield* writeLines(' ', old, at, change.oldFrom)
    yield* writeLines('-', old, change.oldFrom, change.oldTo)
    yield* writeLines('+', new_, change.newFrom, change.newTo)
    at = change.oldTo
  }
  yield* writeLines(' ', old, at, last.oldTo + after)
}

/** First line, counted from 1, and number of lines; as git has it, an empty range stands behind the line before it, and 1 is not written. */
function rangeOf(from: number, to: number): string {
  const count = to - from
  return count === 1 ? `${from + 1}` : `${count === 0 ? from : from + 1},${count}`
}

const LINES_OF_PIECE = 1_024

function* writeLines(sign: string, { text, starts }: LinesOfText, from: number, to: number): Generator<string> {
  for (let at = from; at < to; at += LINES_OF_PIECE) {
    const lines = text.slice(starts[at], starts[Math.min(to, at + LINES_OF_PIECE)])
    const ended = lines.endsWith('\n') ? lines.slice(0, -1) : lines
    yield `${sign}${ended.replaceAll('\n', `\n${sign}`)}${ended === lines ? '' : '\n'}`
  }
  // Only the last line of a text may lack its end.
  if (from < to && to === starts.length - 1 && !text.endsWith('\n')) yield '\n\\ No newline at end of file\n'
}
