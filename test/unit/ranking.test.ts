import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  closeTerms,
  editDistance,
  foldItems,
  informationOf,
  type MatchedTerm,
  queryTerms,
  rankItems,
} from '#api/reading/ranking.ts'
import { impactOf, packPosting, titleTermsOf } from '#core/search/posting.ts'

function matched(term: string, row: number[], group = 0, kind: MatchedTerm['kind'] = 'word'): MatchedTerm {
  return { term, kind, group, matches: row.length === 0 ? [] : [{ row, closeness: 1 }] }
}

const numbers = (terms: MatchedTerm[], owners: number[]) => rankItems(terms, owners).map(({ number }) => number)
const documents = (count: number) => Array.from({ length: count }, () => -1)

test('a posting is its impact and the length of the title', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 127 }), fc.integer({ min: 0, max: 300 }), (impact, titleTerms) => {
      const posting = packPosting(impact, titleTerms)
      expect([impactOf(posting), titleTermsOf(posting)]).toEqual([impact, Math.min(15, titleTerms)])
    }),
  )
})

describe('the terms of a query', () => {
  test('are its different terms in order', () => {
    expect(queryTerms('Tokens, max_tokens').map(({ term }) => term)).toEqual(['token', 'max', 'max_tokens'])
  })

  test('are bounded', () => {
    expect(queryTerms(Array.from({ length: 100 }, (_, at) => `w${at}`).join(' '))).toHaveLength(32)
    expect(queryTerms(Array.from({ length: 200 }, (_, at) => `w${at}`).join('.'))).toHaveLength(64)
  })
})

describe('rank', () => {
  const weak = packPosting(10, 0)
  const strong = packPosting(100, 0)

  test('goes by impact, then by path order', () => {
    expect(numbers([matched('x', [0, weak, 1, strong, 2, weak])], documents(3))).toEqual([1, 0, 2])
  })

  test('goes by rare words more than by common ones', () => {
    const common = matched('common', [0, strong, 1, strong, 2, strong, 3, strong], 0)
    const rare = matched('rare', [3, strong], 1)
    expect(numbers([common, rare], documents(9))[0]).toBe(3)
  })

  test('prefers a title that the query fills', () => {
    const terms = [
      matched('code', [0, packPosting(90, 6), 1, packPosting(90, 2)], 0),
      matched('review', [0, packPosting(90, 6), 1, packPosting(90, 2)], 1),
    ]
    expect(numbers(terms, documents(2))).toEqual([1, 0])
  })

  test('prefers the skill among equals', () => {
    expect(numbers([matched('x', [0, weak, 1, weak])], [-1, 1])).toEqual([1, 0])
  })

  test('lets English filler words count little, unless there is nothing else', () => {
    const filler = matched('the', [0, strong], 0)
    const word = matched('token', [1, weak], 1)
    expect(numbers([filler, word], documents(2))[0]).toBe(1)
    expect(numbers([filler], documents(2))).toEqual([0])
  })

  test('needs enough of the query: one word of many is no match where others have most of them', () => {
    const all = Array.from({ length: 10 }, (_, at) => matched(`w${at}`, at === 0 ? [0, weak, 1, strong] : [0, weak], at))
    expect(numbers(all, documents(2))).toEqual([0])
  })

  test('a whole identifier says more than its parts', () => {
    const parts = [matched('max', [0, strong], 0, 'part'), matched('token', [0, strong], 0, 'part')]
    expect(numbers([...parts, matched('max_tokens', [1, strong], 0, 'whole')], documents(2))[0]).toBe(1)
  })

  test('knows nothing of what does not match', () => {
    expect(rankItems([matched('x', [])], documents(3))).toEqual([])
    expect(rankItems([], documents(3))).toEqual([])
  })

  test('the score of an item does not depend on the items before it', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 19 }), { minLength: 1 }), items => {
        const sorted = [...items].sort((left, right) => left - right)
        const ranked = rankItems(
          [
            matched(
              'x',
              sorted.flatMap(item => [item, weak]),
            ),
          ],
          documents(20),
        )
        expect(ranked.map(({ number }) => number)).toEqual(sorted)
        expect(new Set(ranked.map(({ score }) => score)).size).toBe(1)
      }),
    )
  })
})

test('what a term tells falls with the number of items that have it, and is never nothing', () => {
  for (const items of [1, 2, 10, 15_000]) {
    let before = Number.POSITIVE_INFINITY
    for (let found = 1; found <= items; found += Math.ceil(items / 100)) {
      const information = informationOf(found, items)
      expect(Number.isInteger(information)).toBe(true)
      expect(information).toBeGreaterThan(0)
      expect(information).toBeLessThanOrEqual(before)
      before = information
    }
  }
})

test('folding keeps the place of the best member and drops what has no place', () => {
  const ranked = [4, 2, 9, 1, 3].map(number => ({ number, score: 1 }))
  const units: Record<number, number | null> = { 4: 1, 2: 2, 9: null, 1: 1, 3: 1 }
  expect(foldItems(ranked, item => units[item] ?? null)).toEqual([
    { number: 1, files: [4, 3] },
    { number: 2, files: [] },
  ])
})

describe('misspelled words', () => {
  const spelling: [string, number][] = [
    ['deploy', 3],
    ['deployment', 9],
    ['depot', 1],
    ['native', 2],
    ['strategy', 1],
  ]
  const close = (term: string) => closeTerms({ term, kind: 'word', group: 0 }, spelling).map(({ term: found }) => found)

  test.each([
    ['natvie', ['native']],
    ['bative', ['native']],
    ['nativ', ['native']],
    ['depl', ['deployment', 'deploy']],
    ['stratgey', ['strategy']],
    ['sratgy', []],
    ['nat', []],
    ['zzzz', []],
  ])('%s may mean %j', (term, expected) => {
    expect(close(term)).toEqual(expected)
  })

  test('edits are symmetric, and none apart means equal', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
    fc.assert(
      fc.property(word, word, (left, right) => {
        const edits = editDistance(left, right, 8)
        expect(edits).toBe(editDistance(right, left, 8))
        expect(edits === 0).toBe(left === right)
        expect(edits).toBeLessThanOrEqual(Math.max(left.length, right.length))
        const bounded = editDistance(left, right, 2)
        if (edits <= 2) expect(bounded).toBe(edits)
        else expect(bounded).toBeGreaterThan(2)
      }),
    )
    expect([editDistance('ab', 'ba', 9), editDistance('kitten', 'sitting', 9), editDistance('', 'abc', 9)]).toEqual([1, 3, 3])
  })
})
