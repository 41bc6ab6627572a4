import { describe, expect, test } from 'vitest'
import { parsePreferences, weightOf, weightOfType } from '#core/accept.ts'

test.each([
  ['', []],
  [' , ', []],
  ['Text/HTML', [['text/html', 1]]],
  [
    'a;q=0.5, b ; Q=0.25,c;q=1.000',
    [
      ['a', 0.5],
      ['b', 0.25],
      ['c', 1],
    ],
  ],
  ['a;level=1;q=.5;x="y"', [['a', 0.5]]],
  [
    'a;q=0, b;q=often, c;q=2, d;q=-1, e;q=, f;q=.',
    [
      ['a', 0],
      ['b', 0],
      ['c', 0],
      ['d', 0],
      ['e', 0],
      ['f', 0],
    ],
  ],
  [`${'x,'.repeat(100_000)}de`, Array.from({ length: 500 }, () => ['x', 1])],
])('%j has its members in order, with their weights', (header, members) => {
  expect(parsePreferences(header).map(({ value, weight }) => [value, weight])).toEqual(members)
})

describe('the weight', () => {
  test.each([
    ['', 1],
    ['*/*', 1],
    ['text/*;q=0.8', 0.8],
    ['application/json', 0],
    ['*/*, text/html;q=0.2', 0.2],
    ['text/*;q=0.3, */*;q=0.1', 0.3],
    ['text/html;q=0, */*', 0],
    ['text/html;level=1;q=0.4, text/html;q=0.7', 0.7],
  ])('of HTML by %j is %d: that of the most specific range', (header, weight) => {
    expect(weightOfType(parsePreferences(header), 'text/html')).toBe(weight)
  })

  test('is that of the first value that is named', () => {
    const preferences = parsePreferences('gzip;q=0, *')
    expect([weightOf(preferences, ['gzip', '*']), weightOf(preferences, ['br', '*']), weightOf(preferences, ['br'])]).toEqual([
      0,
      1,
      undefined,
    ])
  })
})
