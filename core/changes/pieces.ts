import { DIFFERENCE_PAGE_BYTES } from '../limits.ts'
import { cutAtBytes } from '../text.ts'

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
