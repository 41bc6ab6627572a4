import { expect, test } from 'vitest'
import { cutPiece, piecesOf } from '#core/changes/unified.ts'
import { DIFFERENCE_PAGE_BYTES } from '#core/limits.ts'

test.each([
  ['ends after a line, where one ends in it', 'one\ntwo\nthree', 10, 'one\ntwo\n'],
  ['is as long as fits, where none ends in it', 'one two three', 7, 'one two'],
  ['never ends within a character', 'ää', 3, 'ä'],
  ['is the rest, where that fits', 'one\ntwo', 7, 'one\ntwo'],
])('a piece %s', (_, text, bytes, piece) => {
  expect(cutPiece(text, 0, bytes)).toBe(piece)
})

test('the pieces of a difference fit on a page each, and joined they are the whole', () => {
  const difference = Array.from({ length: 3_000 }, (_, at) => `+line ${at} 漢字 👍\n`).join('') + '+'.repeat(40_000)
  const pieces = piecesOf(difference)
  expect(pieces.join('')).toBe(difference)
  expect(pieces.length).toBeGreaterThan(3)
  for (const piece of pieces) expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(DIFFERENCE_PAGE_BYTES)
  expect(piecesOf('')).toEqual([])
})
