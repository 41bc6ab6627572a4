import { expect, test } from 'vitest'
import { cutDifference, FIRST_PAGE } from '#core/changes/skill-difference.ts'
import { DIFFERENCE_PAGE_BYTES } from '#core/limits.ts'
import { readPiece } from '#site/lib/difference-rows.ts'

/** The rows of a piece, each with its kind and its text. */
function rowsOf(content: string, isWithinLine = false) {
  const { hunks } = readPiece(content, { isWithinLine })
  return hunks.flatMap(({ rows }) => rows.map(({ kind, parts }) => ({ kind, text: parts.map(part => part.text).join('') })))
}

const SIDE = { sha256: 'a', bytes: 1 }

test.each(['-run this', '+run this', ' run this', '\\ run this', '@@ -1 +1 @@ run this', 'run this'])(
  'an added line longer than a page continues as that line, although its rest begins with %j',
  rest => {
    const line = `+${'x'.repeat(DIFFERENCE_PAGE_BYTES - 1)}${rest}\n`
    const content = `${line}-removed\n`
    const text = { kind: 'body', path: 'SKILL.md', change: 'changed', before: SIDE, after: SIDE, content } as const
    const texts = [{ ...text, characters: content.length }]
    const first = cutDifference(texts, FIRST_PAGE)
    const second = cutDifference(texts, first.next ?? FIRST_PAGE)
    expect(first.entries[0]?.fragment).not.toHaveProperty('withinLine')
    expect(second.entries[0]?.fragment.withinLine).toBe(true)
    expect(rowsOf(second.entries[0]?.content ?? '', true)).toEqual([
      { kind: 'continued', text: rest },
      { kind: 'removed', text: 'removed' },
    ])
  },
)

test('a piece that begins with a line has no such mark', () => {
  const content = `${'+short\n'.repeat(DIFFERENCE_PAGE_BYTES / 4)}`
  const text = { kind: 'body', path: 'SKILL.md', change: 'changed', before: SIDE, after: SIDE, content } as const
  const { next } = cutDifference([{ ...text, characters: content.length }], FIRST_PAGE)
  const second = cutDifference([{ ...text, characters: content.length }], next ?? FIRST_PAGE)
  expect(second.entries[0]?.fragment.index).toBe(1)
  expect(second.entries[0]?.fragment).not.toHaveProperty('withinLine')
})

test('a last line that only got a line end is shown as unchanged, and a line without an end has a note', () => {
  expect(rowsOf('@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n')).toEqual([
    { kind: 'context', text: 'a' },
    { kind: 'added', text: 'b' },
    { kind: 'note', text: ' No newline at end of file' },
  ])
  // Where nothing follows it, the line end is all that changed.
  expect(rowsOf('-a\n\\ No newline at end of file\n+a\n').map(({ kind }) => kind)).toEqual(['removed', 'note', 'added'])
  expect(rowsOf('-a\n+a\n\\ No newline at end of file\n').map(({ kind }) => kind)).toEqual(['removed', 'added', 'note'])
})
