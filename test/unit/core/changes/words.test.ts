import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { markChangedWords, mergeWords, pairLines, type WordPart } from '#core/changes/words.ts'

const spell = (parts: readonly WordPart[]) => parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')
const marked = (before: string, after: string) => {
  const line = markChangedWords(before, after)
  return line && [spell(line.before), spell(line.after)]
}

describe('the words that changed', () => {
  test.each([
    ['find root cause before', 'find root-cause before', 'find root[ ]cause before', 'find root[-]cause before'],
    ['Use when debugging.', 'Use always when debugging.', 'Use when debugging.', 'Use [always ]when debugging.'],
    ['one two three', 'one 2 three', 'one [two] three', 'one [2] three'],
    ['全ての技術を読む', '全ての技術は読む', '全ての技術[を]読む', '全ての技術[は]読む'],
    ['same', 'same', 'same', 'same'],
  ])('%s → %s', (before, after, old, new_) => {
    expect(marked(before, after)).toEqual([old, new_])
  })

  test('are not marked in lines that have little in common', () => {
    expect(marked('Everything about cats', 'curl -s https://example.com | sh')).toBeNull()
  })

  test('are found in a long line, and not in one that is endless', () => {
    const long = 'word '.repeat(1_000)
    expect(marked(`${long}a ${long.slice(0, 2000)}`, `${long}b ${long.slice(0, 2000)}`)?.[1]).toContain('[b]')
    expect(marked('a'.repeat(10_000), 'a'.repeat(10_001))).toBeNull()
  })

  test('a word with a combining character stays whole', () => {
    expect(marked('e\u0301a b c d', 'e\u0301b b c d')).toEqual(['[e\u0301a] b c d', '[e\u0301b] b c d'])
  })

  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(fc.constantFrom('a', 'b', ' ', 'cd', '.', '\u202e', '字', '\ud800'), { maxLength: 60 }).map(words => words.join('')),
  )

  test('parts joined are the lines, and what is not marked is the same on both sides', () => {
    fc.assert(
      fc.property(line, line, (before, after) => {
        const words = markChangedWords(before, after)
        if (words === null) return
        const join = (parts: readonly WordPart[]) => parts.map(({ text }) => text).join('')
        expect([join(words.before), join(words.after)]).toEqual([before, after])
        const kept = (parts: readonly WordPart[]) => join(parts.filter(({ isChanged }) => !isChanged))
        expect(kept(words.before)).toBe(kept(words.after))
        const merged = mergeWords(words)
        const without = (kind: string) => merged.flatMap(part => (part.kind === kind ? [] : [part.text])).join('')
        expect([without('added'), without('removed')]).toEqual([before, after])
        expect(words.before.some(({ isChanged }) => isChanged) || words.after.some(({ isChanged }) => isChanged)).toBe(
          before !== after,
        )
      }),
    )
  })
})

describe('the lines of a change', () => {
  const pairs = (removed: string[], added: string[]) => pairLines(removed, added).map(pair => pair?.added ?? null)

  test('are paired in order', () => {
    expect(pairs(['a b c', 'd e f'], ['a b x', 'd e y'])).toEqual([0, 1])
    expect(pairs(['a b c', 'd e f'], ['new words here', 'a b x', 'd e y'])).toEqual([1, 2])
    expect(pairs(['gone', 'd e f'], ['d e y'])).toEqual([null, 0])
  })

  test('have at most one counterpart, in ascending order, and very many have none', () => {
    const lines = fc.array(fc.constantFrom('a b c', 'a b d', 'x', ''), { maxLength: 12 })
    fc.assert(
      fc.property(lines, lines, (removed, added) => {
        const found = pairs(removed, added).filter(at => at !== null)
        expect(found).toEqual([...new Set(found)].sort((left, right) => left - right))
      }),
    )
    expect(
      pairs(
        ['a'],
        Array.from({ length: 2_000 }, () => 'b'),
      ),
    ).toEqual([null])
  })

  test('are not compared to the end of a block of many words that have little in common', () => {
    const signs = (characters: string) => (_: unknown, index: number) =>
      Array.from({ length: 60 }, (_, at) => characters[(at * 7 + index) % characters.length]).join('')
    const [removed, added] = [Array.from({ length: 38 }, signs('!#$%&()*')), Array.from({ length: 39 }, signs('+,./:;<='))]
    expect(pairs([...removed.slice(0, 2), 'a b c'], [...added.slice(0, 3), 'a b d'])).toEqual([null, null, 3])
    expect(pairs([...removed, 'a b c'], [...added, 'a b d']).at(-1)).toBeNull()
  })
})

test('a budget that is spent leaves what lies between the first and the last change marked as a whole', () => {
  const [before, after] = ['one two three four five', 'one 2 three 4 five']
  const budget = { cells: 30 }
  const changed = () =>
    markChangedWords(before, after, budget)
      ?.after.filter(({ isChanged }) => isChanged)
      .map(({ text }) => text)
  expect(changed()).toEqual(['2', '4'])
  expect(budget.cells).toBe(5)
  expect(changed()).toEqual(['2 three 4'])
  expect(budget.cells).toBe(5)
})
