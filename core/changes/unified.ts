import { createTurns, type Turn } from '../concurrency/turns.ts'
import { COMPARED_SLICE_MS } from '../limits.ts'
import type { ChangedLines } from './changed-lines.ts'
import { compareLines } from './line-difference.ts'
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
  const writeRun = createRunWriter(writer, turn)
  for (const hunk of hunksOf(changes, old.numbers.length)) {
    writer.write(headOf(hunk, changes))
    let at = changes.oldFrom(hunk.from) - hunk.before
    for (let index = hunk.from; index <= hunk.to; index++) {
      const isLast = index === hunk.to
      const until = isLast ? at + hunk.after : changes.oldFrom(index)
      const context = writeRun(CONTEXT, old, at, until)
      if (context) await context
      if (isLast) break
      at = changes.oldTo(index)
      const removed = writeRun(REMOVED, old, until, at)
      if (removed) await removed
      const added = writeRun(ADDED, new_, changes.newFrom(index), changes.newTo(index))
      if (added) await added
    }
  }
  return writer.text()
}

interface Hunk {
  /** The changes from one on to the one before another. */
  from: number
  to: number
  /** Context before the first change and after the last one, in lines. */
  before: number
  after: number
}

/** Changes whose contexts touch or overlap make one hunk. */
function* hunksOf(changes: ChangedLines, oldLines: number): Generator<Hunk> {
  for (let from = 0, to = 1; from < changes.length; from = to++) {
    while (to < changes.length && changes.oldFrom(to) - changes.oldTo(to - 1) <= 2 * CONTEXT_LINES) to++
    yield {
      from,
      to,
      before: Math.min(CONTEXT_LINES, changes.oldFrom(from)),
      after: Math.min(CONTEXT_LINES, oldLines - changes.oldTo(to - 1)),
    }
  }
}

const CONTEXT = ' '.charCodeAt(0)
const REMOVED = '-'.charCodeAt(0)
const ADDED = '+'.charCodeAt(0)
const NEWLINE = 10

/** Written before others may get their turn: milliseconds before it is compiled, then much less. A longer line is written at once. */
const UNITS_AT_ONCE = 16_384
/** What a line takes besides its units, in units. */
const UNITS_OF_LINE = 8

/** Writes lines of a text from one on to the one before another. Returns what to await if they were not all written at once. */
type RunWriter = (sign: number, lines: NumberedLines, from: number, to: number) => Promise<void> | undefined

function createRunWriter(writer: UnitWriter, turn: Turn): RunWriter {
  let left = UNITS_AT_ONCE

  /** @returns the first line that was not written */
  function writeSome(sign: number, { units, starts }: NumberedLines, from: number, to: number): number {
    let line = from
    for (; line < to && left > 0; line++) {
      const start = starts[line] as number
      const end = starts[line + 1] as number
      writer.writeLine(sign, units, start, end)
      left -= end - start + UNITS_OF_LINE
    }
    // Only the last line of a text may lack its end.
    const isLast = from < line && line === starts.length - 1
    if (isLast && units[units.length - 1] !== NEWLINE) writer.write('\n\\ No newline at end of file\n')
    return line
  }

  async function writeRest(sign: number, lines: NumberedLines, from: number, to: number): Promise<void> {
    for (let line = from; line < to; ) {
      await turn()
      left = UNITS_AT_ONCE
      line = writeSome(sign, lines, line, to)
    }
  }

  return (sign, lines, from, to) => {
    const next = writeSome(sign, lines, from, to)
    return next < to ? writeRest(sign, lines, next, to) : undefined
  }
}

function headOf({ from, to, before, after }: Hunk, changes: ChangedLines): string {
  const old = rangeOf(changes.oldFrom(from) - before, changes.oldTo(to - 1) + after)
  return `@@ -${old} +${rangeOf(changes.newFrom(from) - before, changes.newTo(to - 1) + after)} @@\n`
}

/** First line, counted from 1, and number of lines; as git has it, an empty range stands behind the line before it, and 1 is not written. */
function rangeOf(from: number, to: number): string {
  const count = to - from
  return count === 1 ? `${from + 1}` : `${count === 0 ? from : from + 1},${count}`
}
