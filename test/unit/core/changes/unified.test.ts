import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { differenceInTurn, unifiedDifference } from '#core/changes/unified.ts'
import { createRandom } from '#test/support/random.ts'
import { countTurns } from '#test/support/turn-counter.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mountglass-unified-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['the same text', 'a\nb\n', 'a\nb\n', ''],
  ['a line that was added', 'a\nb\n', 'a\nb\nc\n', '@@ -1,2 +1,3 @@\n a\n b\n+c\n'],
  ['a text that was added', '', 'a\nb\n', '@@ -0,0 +1,2 @@\n+a\n+b\n'],
  ['a text that was removed', 'a\n', '', '@@ -1 +0,0 @@\n-a\n'],
  ['an end without a line break', 'a\nb', 'a\nb\n', '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n'],
  ['two ends without one', 'a\nb', 'c\nb', '@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n'],
  ['a carriage return is a part of its line', 'a\r\nb\n', 'a\nb\n', '@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n'],
])('%s', (_what, before, after, expected) => {
  expect(unifiedDifference(before, after)).toBe(expected)
})

test('changes share a hunk where at most six lines lie between them', () => {
  const text = (between: number, mark: string) =>
    [mark, ...Array.from({ length: between }, (_, at) => `${at}`), mark, ''].join('\n')
  const hunks = (between: number) => unifiedDifference(text(between, 'a'), text(between, 'b')).split('@@ -').length - 1
  expect([hunks(6), hunks(7)]).toEqual([1, 2])
})

test('a difference is what git writes, where only one is shortest', () => {
  const lines = Array.from({ length: 60 }, (_, at) => `line ${at}`)
  const edited = lines.flatMap((line, at) => (at === 5 ? [] : at === 20 ? [line, 'added'] : at === 40 ? ['changed'] : [line]))
  const [before, after] = [`${lines.join('\n')}\n`, edited.join('\n')]
  expect(unifiedDifference(before, after)).toBe(gitDifference(before, after))
})

test('git applies every difference to the old text and gets the new one, byte for byte', () => {
  const random = createRandom(20)
  const words = ['', 'a', 'b', 'a b', '\r', '漢字', '👍', '-', '+', '@@ -1 +1 @@', '\\ No newline at end of file']
  const pick = () => words[Math.floor(random() * words.length)] ?? ''
  const text = () => Array.from({ length: Math.floor(random() * 25) }, pick).join('\n')
  for (let round = 0; round < 40; round++) {
    const before = text()
    const after = random() < 0.5 ? text() : edit(before, random, pick)
    expect(applied(before, unifiedDifference(before, after))).toBe(after)
  }
})

test.each([
  ['one line of a mebibyte', 'a'.repeat(1_048_576), 'b'.repeat(1_048_576)],
  ['a hundred thousand equal lines', 'same\n'.repeat(100_000), `${'same\n'.repeat(99_000)}x\n${'same\n'.repeat(1_000)}`],
  ['texts with nothing in common', numbered('a', 50_000), numbered('b', 50_000)],
  ['lines in the opposite order', numbered('', 50_000), numbered('', 50_000).split('\n').reverse().join('\n')],
  ['two lines in any order', coins(1), coins(2)],
  ['every second line', everySecond('a'), everySecond('b')],
  ['empty lines', '\n'.repeat(500_000), `${'\n'.repeat(250_000)}x`],
  ['a million empty lines between two others', `x${'\n'.repeat(1_000_000)}y`, `y${'\n'.repeat(1_000_000)}x`],
  ['lines that are equal but for one in a hundred', everyHundredth('b'), everyHundredth('c')],
  ['lines beyond Latin', numbered('漢字 👍', 20_000), numbered('字漢 👍', 20_000)],
])('a difference of %s applies', (_what, before, after) => {
  expect(applied(before, unifiedDifference(before, after)) === after).toBe(true)
})

test('texts that differ too much have the lines between their common ends replaced', () => {
  const ends = [numbered('begin', 10), numbered('end', 10)] as const
  const difference = unifiedDifference(ends.join(numbered('a', 1_000)), ends.join(numbered('b', 2_000)))
  const lines = difference.split('\n')
  expect([lines[0], lines[3], lines[4], lines[1_004], lines[3_004], lines.at(-2)]).toEqual([
    '@@ -8,1006 +8,2006 @@',
    ' begin9',
    '-a0',
    '+b0',
    ' end0',
    ' end2',
  ])
})

test('of texts that many compare at once, each pair has a turn of the event loop that no other one gets', async () => {
  const counted = countTurns()
  const served = await Promise.all(
    ['b', 'c', 'd', 'e', 'f'].map(async other => {
      expect(await differenceInTurn('a\n', `${other}\n`)).toBe(`@@ -1 +1 @@\n-a\n+${other}\n`)
      return counted.turn()
    }),
  )
  counted.stop()
  const [first = 0] = served
  expect(served).toEqual([0, 1, 2, 3, 4].map(number => first + number))
})

function numbered(sign: string, count: number): string {
  return Array.from({ length: count }, (_, at) => `${sign}${at}\n`).join('')
}

function coins(seed: number): string {
  const random = createRandom(seed)
  return Array.from({ length: 200_000 }, () => (random() < 0.5 ? 'heads\n' : 'tails\n')).join('')
}

function everySecond(sign: string): string {
  return Array.from({ length: 50_000 }, (_, at) => `${at % 2 === 0 ? at : `${sign}${at}`}\n`).join('')
}

function everyHundredth(other: string): string {
  return Array.from({ length: 20_000 }, (_, at) => (at % 100 === 99 ? `${other}\n` : 'a\n')).join('')
}

function edit(text: string, random: () => number, pick: () => string): string {
  return text
    .split('\n')
    .flatMap(line => (random() < 0.2 ? [] : random() < 0.2 ? [line, pick()] : random() < 0.1 ? [pick()] : [line]))
    .join('\n')
}

/** What git makes of the old text with the difference. */
function applied(before: string, difference: string): string {
  const file = join(folder, 'text')
  writeFileSync(file, before)
  if (difference === '') return before
  const patch = `diff --git a/text b/text\n--- a/text\n+++ b/text\n${difference}`
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: folder, input: patch, env: ENVIRONMENT })
  return readFileSync(file, 'utf8')
}

function gitDifference(before: string, after: string): string {
  const [old, new_] = [join(folder, 'old'), join(folder, 'new')]
  writeFileSync(old, before)
  writeFileSync(new_, after)
  const command = ['-c', `git diff --no-index --no-color "${old}" "${new_}" || true`]
  const output = execFileSync('sh', command, { env: ENVIRONMENT }).toString()
  return output.slice(output.indexOf('@@ ')).replace(/^(@@ [^@]* @@).*$/gm, '$1')
}

const ENVIRONMENT = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
