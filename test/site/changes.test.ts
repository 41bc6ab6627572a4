import { expect, test } from 'vitest'
import { openedFiles, sideName, tokensOf } from '#site/lib/changes.ts'
import { ENGLISH } from '#site/lib/ui.ts'

test('a longer list opens fewer files of each item', () => {
  expect([0, 1, 10, 20, 100, 200, 1_000].map(openedFiles)).toEqual([50, 50, 50, 25, 5, 2, 0])
})

test('a side has its name and its hash, or the hash alone', () => {
  const commit = '172c5dd'.padEnd(40, '0')
  const name = (ref: string | null) => sideName({ ref, commit }, 'main')
  expect(['v1', 'refs/tags/v1', null, commit].map(name)).toEqual(['v1 (172c5dd)', 'v1 (172c5dd)', 'main (172c5dd)', '172c5dd'])
})

test('tokens are told before and after, once where one side has none, and not where they are as many', () => {
  const license = { kind: 'open', name: 'MIT', source: null } as const
  const side = (tokens: number) => ({ sha256: null, bytes: 1, tokens, license, full: true })
  const told = (change: string, before: number | null, after: number | null) =>
    tokensOf([{ change, before: before === null ? null : side(before), after: after === null ? null : side(after) }], ENGLISH)
  expect(told('changed', 493, 1510)).toBe('~493 → ~1,510 tokens')
  expect(told('changed', 493, 493)).toBeNull()
  expect(told('moved', 493, 493)).toBe('~493 tokens')
  expect(told('added', null, 7)).toBe('~7 tokens')
  expect(told('removed', 7, null)).toBe('~7 tokens')
})
