import { expect, test } from 'vitest'
import { type Entry, entryLines, fold, type Paint, painted, signedLines } from '#indexer/check/fold.ts'

const plain: Paint = (_style, text) => text
const marked: Paint = (style, text) => `<${style}>${text}</${style}>`
const NARROW = { width: 12, indent: 2, paint: plain }

test('lines break between words', () => {
  expect(fold([{ text: 'one two three four' }], NARROW)).toEqual(['  one two', '  three four'])
})

test.each([
  ['a word', 'see unbreakable-word here', ['  see', '  unbreakable-word', '  here']],
  ['a path in wide letters', 'see 技能/技能/技能 here', ['  see', '  技能/技能/技能', '  here']],
  ['a URL', 'at https://x.example/a now', ['  at', '  https://x.example/a', '  now']],
])('%s that is longer than a line stands whole', (_what, text, lines) => {
  expect(fold([{ text }], NARROW)).toEqual(lines)
})

test('text without spaces breaks between wide letters, with their marks', () => {
  expect(fold([{ text: 'a 日本語の説明はabc長い' }], NARROW)).toEqual(['  a', '  日本語の説', '  明はabc長', '  い'])
  expect(fold([{ text: 'か\u3099'.repeat(6) }], NARROW)).toEqual([`  ${'か\u3099'.repeat(5)}`, '  か\u3099'])
})

test('a whole span is never broken at its spaces', () => {
  expect(fold([{ text: 'run' }, { text: 'npx mountglass check .', whole: true }, { text: 'now' }], NARROW)).toEqual([
    '  run',
    '  npx mountglass check .',
    '  now',
  ])
})

test('a link takes the columns of its text, and its style is inside', () => {
  const link = 'file://host/a%20b'
  expect(painted({ text: 'a b', style: 'bold', link }, marked)).toBe(
    `\u001B]8;;${link}\u001B\\<bold>a b</bold>\u001B]8;;\u001B\\`,
  )
  expect(fold([{ text: 'a b', whole: true, link }, { text: 'is here' }], NARROW)).toEqual([
    `  \u001B]8;;${link}\u001B\\a b\u001B]8;;\u001B\\ is`,
    '  here',
  ])
})

test('entries stand in columns, and what is told of one below it where it does not fit', () => {
  const entry = (path: string, text: string): Entry => ({ sign: { text: '~' }, place: { text: path }, said: [{ text }] })
  const entries = [entry('a.md', 'changed'), { ...entry('long.md', 'moved from b.md'), below: [{ text: 'c.md' }] }]
  expect(entryLines(entries, { paint: plain, width: 40 })).toEqual([
    '  ~ a.md     changed',
    '  ~ long.md  moved from b.md',
    '      c.md',
  ])
  expect(entryLines(entries, { paint: plain, width: 20 })).toEqual([
    '  ~ a.md  changed',
    '  ~ long.md',
    '    moved from b.md',
    '      c.md',
  ])
})

test('a sentence behind a sign hangs below itself', () => {
  expect(signedLines({ text: '!' }, [{ text: 'one two three' }], { paint: plain, width: 12 })).toEqual([
    '  ! one two',
    '    three',
  ])
})
