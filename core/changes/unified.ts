import { createPace, createTurns, type Pace, type Turn } from '../concurrency/turns.ts'
import { COMPARED_SLICE_MS } from '../limits.ts'
import { type ChangedLines, compareLines } from './line-difference.ts'
import type { NumberedLines } from './numbered-lines.ts'
import { createUnitWriter, type UnitWriter } from './unit-writer.ts'

/** Unchanged lines around a change. */
const CONTEXT_LINES = 3

/**
 * The unified difference of two texts, as git writes it without the headers of files; `''` when they are the same. Lines end at `\n` only.
 * Yields to other requests all along.
 *
 * @param turn of a longer walk that this comparison is a step of
 */
export async function unifiedDifference(
  before: string,
  after: string,
  turn: Turn = createTurns(undefined, COMPARED_SLICE_MS),
): Promise<string> {
  if (before === after) return ''
  const { before: old, after: new_, changes } = await compareLines(before, after, turn)
  const writer = createUnitWriter()
  const pace = createPace(turn, UNITS_AT_ONCE)
  for (const hunk of hunksOf(changes, old.numbers.length)) {
    writer.write(headOf(hunk))
    await writeHunk({ writer, pace }, hunk, old, new_)
  }
  return writer.text()
}

interface Hunk {
  changes: readonly ChangedLines[]
  /** Context before the first change and after the last one, in lines. */
  before: number
  after: number
}

/** Changes whose contexts touch or overlap make one hunk. */
function* hunksOf(changes: readonly ChangedLines[], oldLines: number): Generator<Hunk> {
  for (let from = 0, to = 1; from < changes.length; from = to++) {
    while (to < changes.length && linesBetween(changes[to - 1], changes[to]) <= 2 * CONTEXT_LINES) to++
    yield {
      changes: changes.slice(from, to),
      before: Math.min(CONTEXT_LINES, changes[from]?.oldFrom ?? 0),
      after: Math.min(CONTEXT_LINES, oldLines - (changes[to - 1]?.oldTo ?? 0)),
    }
  }
}

function linesBetween(earlier: ChangedLines | undefined, later: ChangedLines | undefined): number {
  return (later?.oldFrom ?? 0) - (earlier?.oldTo ?? 0)
}

interface Target {
  writer: UnitWriter
  /** By UTF-16 units. */
  pace: Pace
}

/** Written before others may get their turn: less than a millisecond. A longer line is written at once. */
const UNITS_AT_ONCE = 65_536
/** What a line takes besides its units, in units. */
const UNITS_OF_LINE = 8

async function writeHunk({ writer, pace }: Target, hunk: Hunk, old: NumberedLines, new_: NumberedLines): Promise<void> {
  for (const { sign, lines, from, to } of runsOf(hunk, old, new_)) {
    const { units, starts } = lines
    for (let line = from; line < to; line++) {
      const [start, end] = [starts[line] as number, starts[line + 1] as number]
      writer.writeLine(sign, units, start, end)
      const waiting = pace(end - start + UNITS_OF_LINE)
      if (waiting) await waiting
    }
    // Only the last line of a text may lack its end.
    if (from < to && to === starts.length - 1 && units.at(-1) !== NEWLINE) writer.write('\n\\ No newline at end of file\n')
  }
}

interface Run {
  sign: ' ' | '-' | '+'
  lines: NumberedLines
  from: number
  to: number
}

function* runsOf({ changes, before, after }: Hunk, old: NumberedLines, new_: NumberedLines): Generator<Run> {
  let at = (changes[0]?.oldFrom ?? 0) - before
  for (const { oldFrom, oldTo, newFrom, newTo } of changes) {
    yield { sign: ' ', lines: old, from: at, to: oldFrom }
    yield { sign: '-', lines: old, from: oldFrom, to: oldTo }
    yield { sign: '+', lines: new_, from: newFrom, to: newTo }
    at = oldTo
  }
  yield { sign: ' ', lines: old, from: at, to: at + after }
}

function headOf({ changes, before, after }: Hunk): string {
  const [first, last] = [changes[0], changes.at(-1)]
  if (first === undefined || last === undefined) return ''
  return `@@ -${rangeOf(first.oldFrom - before, last.oldTo + after)} +${rangeOf(first.newFrom - before, last.newTo + after)} @@\n`
}

/** First line, counted from 1, and number of lines; as git has it, an empty range stands behind the line before it, and 1 is not written. */
function rangeOf(from: number, to: number): string {
  const count = to - from
  return count === 1 ? `${from + 1}` : `${count === 0 ? from : from + 1},${count}`
}

const NEWLINE = 10
