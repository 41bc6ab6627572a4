import { expect, test } from 'vitest'
import { formatCount, formatWait } from '#site/lib/format.ts'

const NOW = new Date('2026-03-04T05:06:07.500Z')

test.each([
  [1, '1 second'],
  [60, '60 seconds'],
  [61, '2 minutes, until 2026-03-04 05:08 UTC'],
  [112.5, '2 minutes, until 2026-03-04 05:08 UTC'],
  [113, '2 minutes, until 2026-03-04 05:09 UTC'],
  [3_600, '60 minutes, until 2026-03-04 06:07 UTC'],
])('a wait of %d seconds is %s', (seconds, words) => {
  expect(formatWait(seconds, NOW)).toBe(words)
})

test('a count has the words of its number', () => {
  expect([0, 1, 1_200].map(count => formatCount(count, 'skill'))).toEqual(['0 skills', '1 skill', '1,200 skills'])
  expect([1, 2].map(count => formatCount(count, 'repository', 'repositories'))).toEqual(['1 repository', '2 repositories'])
})
