import { type StructuredPatchHunk, structuredPatch } from 'diff'
import { nextSlot } from '../concurrency/fair-gate.ts'
import { DIFFERENCE_EDITS, DIFFERENCE_LINES, DIFFERENCE_PAGE_BYTES } from '../limits.ts'
import { cutAtBytes } from '../text.ts'

/** Unchanged lines around a change. */
const CONTEXT_LINES = 3

/**
 * The unified difference of two texts, as git writes it without the headers of files; `''` when they are the same. Lines end at `\n` only.
 *
 * Takes some tens of milliseconds, and a tenth of a second for a million lines: what differs by more than `DIFFERENCE_EDITS`, or has more than
 * `DIFFERENCE_LINES`, is replaced as a whole, from the first line that differs to the last one. The bounds are counts and not times, because the
 * pages of a difference are cut from equal results.
 */
export function unifiedDifference(before: string, after: string): string {
  if (before === after) return ''
  const start = commonStart(before, after)
  const end = commonEnd(before, after, start)
  const old = before.slice(start, before.length - end)
  const new_ = after.slice(start, after.length - end)
  const lead = lastLines(before.slice(0, start))
  const trail = firstLines(before.slice(before.length - end))
  const firstLine = countLines(before.slice(0, start - lead.length)) + 1

  const [oldCount, newCount] = [countLines(old), countLines(new_)]
  const patch =
    oldCount + newCount > DIFFERENCE_LINES
      ? undefined
      : structuredPatch('', '', lead + old + trail, lead + new_ + trail, '', '', {
          context: CONTEXT_LINES,
          maxEditLength: DIFFERENCE_EDITS,
        })
  if (patch !== undefined) {
    return patch.hunks.map(hunk => `${headOf(firstLine, hunk)}${hunk.lines.join('\n')}\n`).join('')
  }
  const around = countLines(lead) + countLines(trail)
  const whole = { oldStart: 1, oldLines: oldCount + around, newStart: 1, newLines: newCount + around }
  return headOf(firstLine, whole) + signed(' ', lead) + signed('-', old) + signed('+', new_) + signed(' ', trail)
}

/**
 * As `unifiedDifference`, for requests: two texts that differ take a turn of the event loop that no other two get, so that what many requests compare
 * at once does not keep the others waiting until all of it is done.
 */
export async function differenceInTurn(before: string, after: string): Promise<string> {
  if (before !== after) await nextSlot('difference')
  return unifiedDifference(before, after)
}

/** UTF-16 units of the lines with which both texts begin. */
function commonStart(before: string, after: string): number {
  let at = 0
  while (at < before.length && at < after.length && before.charCodeAt(at) === after.charCodeAt(at)) at++
  return at === 0 ? 0 : before.lastIndexOf('\n', at - 1) + 1
}

/** UTF-16 units of whole lines with which both texts end, behind their common start. */
function commonEnd(before: string, after: string, start: number): number {
  const longest = Math.min(before.length, after.length) - start
  let units = 0
  while (units < longest && before.charCodeAt(before.length - 1 - units) === after.charCodeAt(after.length - 1 - units)) units++
  // The line in which the common end begins may differ.
  const newline = before.indexOf('\n', before.length - units)
  return newline < 0 ? 0 : before.length - newline - 1
}

function lastLines(text: string): string {
  let at = text.length
  for (let lines = 0; lines < CONTEXT_LINES && at > 0; lines++) at = at === 1 ? 0 : text.lastIndexOf('\n', at - 2) + 1
  return text.slice(at)
}

function firstLines(text: string): string {
  let at = 0
  for (let lines = 0; lines < CONTEXT_LINES && at < text.length; lines++) at = text.indexOf('\n', at) + 1 || text.length
  return text.slice(0, at)
}

/** By code units: a text may have a million lines. */
function countLines(text: string): number {
  let ends = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === LINE_FEED) ends++
  return text === '' || text.endsWith('\n') ? ends : ends + 1
}

const LINE_FEED = 10

/** The text with a sign before each line. */
function signed(sign: string, text: string): string {
  if (text === '') return ''
  // `replaceAll` takes three times as long for a million lines.
  const lines = sign + text.split('\n').join(`\n${sign}`)
  return text.endsWith('\n') ? lines.slice(0, -sign.length) : `${lines}\n\\ No newline at end of file\n`
}

type Ranges = Omit<StructuredPatchHunk, 'lines'>

function headOf(firstLine: number, { oldStart, oldLines, newStart, newLines }: Ranges): string {
  const shift = firstLine - 1
  return `@@ -${rangeOf(oldStart + shift, oldLines)} +${rangeOf(newStart + shift, newLines)} @@\n`
}

/** As git writes it: an empty range stands behind the line before it, and a count of 1 is left out. */
function rangeOf(start: number, lines: number): string {
  return lines === 1 ? `${start}` : `${lines === 0 ? start - 1 : start},${lines}`
}

/** The part of a text from a unit on that fits. Ends after a line, where one ends in it, and never within a character. */
export function cutPiece(whole: string, from: number, bytes: number): string {
  // A UTF-16 unit takes at least one byte.
  const candidate = whole.slice(from, from + bytes + 1)
  const fitting = cutAtBytes(candidate, bytes)
  if (from + fitting.length === whole.length) return fitting
  const lines = fitting.slice(0, fitting.lastIndexOf('\n') + 1)
  return lines === '' ? fitting : lines
}

/** A difference in pieces of at most `DIFFERENCE_PAGE_BYTES`; joined, they are the whole. */
export function piecesOf(difference: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < difference.length; ) {
    const piece = cutPiece(difference, at, DIFFERENCE_PAGE_BYTES)
    pieces.push(piece)
    at += piece.length
  }
  return pieces
}
