import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { piecesOf, unifiedDifference } from '#core/changes/unified.ts'
import { type Hunk, readPiece, readPieces } from '#site/lib/difference-rows.ts'

const spell = (hunks: readonly Hunk[]) =>
  hunks.map(({ line, rows }) => [line, ...rows.map(({ kind, before, after }) => `${before ?? ''}|${after ?? ''} ${kind}`)])

describe('the rows of a difference', () => {
  test('have the numbers of their lines on both sides', () => {
    const content = '@@ -2,3 +2,4 @@\n a\n-b\n+c\n+d\n e\n@@ -9 +10,0 @@\n-z\n'
    expect(spell(readPiece(content).hunks)).toEqual([
      [2, '2|2 context', '3| removed', '|3 added', '|4 added', '4|5 context'],
      [9, '9| removed'],
    ])
    const offsets = { before: 4, after: 5 }
    expect(spell(readPiece('@@ -1 +1 @@\n-a\n+b\n', { offsets }).hunks)).toEqual([[6, '5| removed', '|6 added']])
    expect(spell(readPiece('@@ -0,0 +1 @@\n+a\n').hunks)).toEqual([[1, '|1 added']])
  })

  test('go on with their numbers in the next piece, and have none where the piece before is not known', () => {
    const { next } = readPiece('@@ -1,9 +1,9 @@\n a\n-b\n')
    expect(next).toEqual({ before: 3, after: 2 })
    expect(spell(readPiece('+c\n d\n', { next }).hunks)).toEqual([[null, '|2 added', '3|3 context']])
    expect(spell(readPiece('+c\n').hunks)).toEqual([[null, '| added']])
  })

  test('of a later piece are the same without those before it', () => {
    const pieces = ['@@ -1,9 +1,9 @@\n a\n-b c', ' d\n+b x d\n', ' e\n-f\n']
    const all = readPieces(pieces)
    expect(pieces.map((_, index) => readPieces(pieces.slice(0, index + 1), index))).toEqual(all.map(hunks => [hunks]))
  })

  test('stop at each change, and mark its words', () => {
    const { hunks } = readPiece('@@ -1,3 +1,3 @@\n-one two three\n+one 2 three\n same\n-gone\n')
    const rows = hunks.flatMap(hunk => hunk.rows)
    expect(rows.map(({ isStop }) => isStop)).toEqual([true, false, false, true])
    expect(rows[1]?.parts).toEqual([
      { text: 'one ', isChanged: false },
      { text: '2', isChanged: true },
      { text: ' three', isChanged: false },
    ])
  })

  const lines = fc.array(fc.constantFrom('a', 'b', 'a b c', 'a x c', '', '-', '+', '@@ -1 +1 @@', '\\ x'), { maxLength: 40 })
  const text = fc.tuple(lines, fc.boolean()).map(([all, hasEnd]) => all.join('\n') + (hasEnd ? '\n' : ''))

  test('name the lines of both texts by their numbers, however the difference is cut', () => {
    fc.assert(
      fc.property(text, text, fc.boolean(), (before, after, isCut) => {
        const content = unifiedDifference(before, after)
        if (content === '') return
        const pieces = isCut ? (content.match(/.*\n/g) ?? []) : piecesOf(content)
        const [old, new_] = [before.split('\n'), after.split('\n')]
        for (const row of readPieces(pieces).flatMap(hunks => hunks.flatMap(({ rows }) => rows))) {
          const shown = row.parts.map(part => part.text).join('')
          if (row.before !== null) expect(old[row.before - 1]).toBe(shown)
          if (row.after !== null) expect(new_[row.after - 1]).toBe(shown)
        }
      }),
    )
  })
})
