import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FULL } from '#api/search/fixed-point.ts'
import { QUERY_TERMS } from '#api/search/query.ts'
import { type Ranking, RankingBuffers, rankItems } from '#api/search/ranking.ts'
import { informationOf } from '#api/search/term-weights.ts'
import { PLACE, packPosting } from '#core/search/postings.ts'
import {
  headOf,
  listOf,
  matched,
  millionOf,
  named,
  order,
  type Row,
  rank,
  scoresOf,
  strong,
  titled,
  weak,
} from './ranked-lists.ts'

describe('a score', () => {
  test('orders items by impact, then by path', () => {
    const row: Row = [
      [0, weak],
      [1, strong],
      [2, weak],
    ]
    expect(order([matched('x', row)], headOf(3))).toEqual([1, 0, 2])
  })

  test('counts rare words more than common ones', () => {
    const common = matched(
      'common',
      [0, 1, 2, 3].map(item => [item, strong] as const),
    )
    const rare = matched('rare', [[5, strong]], 1)
    expect(order([common, rare], headOf(9))[0]).toBe(5)
  })

  test('is higher if the short fields have the whole query, and highest if the title has nothing else', () => {
    const rows = [body(strong), body(named), body(titled)]
    const terms = ['code', 'review'].map((term, group) => matched(term, rows, group))
    const [inBody = 0, inNames = 0, inTitle = 0] = scoresOf(terms, headOf(9))
    expect(inNames).toBe(2 * inBody)
    expect(inTitle).toBe(Math.floor(3 * 1.3 * inBody))

    function body(posting: number): readonly [number, number] {
      return [[strong, named, titled].indexOf(posting), posting]
    }
  })

  test('gains next to nothing if the short fields have half of the query', () => {
    const half = [matched('code', [[0, named]]), matched('review', [[0, strong]], 1)]
    const none = [matched('code', [[0, strong]]), matched('review', [[0, strong]], 1)]
    const [withHalf = 0] = scoresOf(half, headOf(9))
    const [without = 0] = scoresOf(none, headOf(9))
    expect(withHalf / without).toBeLessThan(1.01)
  })

  test('prefers the title that the query fills', () => {
    const row: Row = [
      [0, titled],
      [1, titled],
    ]
    expect(order([matched('code', row), matched('review', row, 1)], headOf(9, { titles: [6, 2] }))).toEqual([1, 0])
  })

  test('prefers the skill among equals', () => {
    const row: Row = [
      [0, weak],
      [1, weak],
    ]
    expect(order([matched('x', row)], headOf(2, { skills: [1] }))).toEqual([1, 0])
  })

  test('counts stop words little, unless the query has nothing else', () => {
    const filler = matched('the', [[0, strong]])
    const word = matched('token', [[1, weak]], 1)
    expect(order([filler, word], headOf(9))[0]).toBe(1)
    expect(order([filler], headOf(9))).toEqual([0])
  })

  test('counts a whole identifier that is found more than its parts', () => {
    const parts = [matched('max', [[0, strong]], 0, 'part'), matched('token', [[0, strong]], 0, 'part')]
    expect(order([...parts, matched('max_tokens', [[1, strong]], 0, 'whole')], headOf(9))[0]).toBe(1)
    expect(order([...parts, matched('max_tokens', [], 0, 'whole')], headOf(9))).toEqual([0])
  })

  test('is higher for a phrase in short fields than for its pairs: the triple decides', () => {
    const pairs = ['算出', '出プ'].map(term =>
      matched(
        term,
        [
          [0, named],
          [1, named],
        ],
        0,
        'pair',
      ),
    )
    expect(order([...pairs, matched('算出プ', [[1, named]], 0, 'triple')], headOf(9))).toEqual([1, 0])
  })

  test('counts similar terms less, and a rare one no more than a common one', () => {
    const near = {
      ...matched('prom', []),
      matches: [
        listOf(
          [0, 1, 2, 3].map(item => [item, strong] as const),
          FULL / 2,
        ),
        listOf([[5, strong]], FULL / 2),
      ],
    }
    const scores = scoresOf([near], headOf(9))
    expect(scores[5]).toBe(scores[0])
  })

  test('is absent for items that do not match', () => {
    expect(rank([matched('x', [])], headOf(3)).matched).toEqual(new Uint32Array(0))
    expect(rank([], headOf(3)).matched).toEqual(new Uint32Array(0))
    expect(rank([matched('x', [])], headOf(0)).matched).toEqual(new Uint32Array(0))
  })

  describe('is zero', () => {
    const faint = packPosting(5, PLACE.body)
    const common: Row = Array.from({ length: 8 }, (_, item) => [item, strong])

    test('for an item with little of the query, compared with the best', () => {
      const rare: Row = [
        [0, strong],
        [1, strong],
      ]
      expect(order([matched('rare', rare), matched('common', [...common, [8, faint]])], headOf(99))).not.toContain(8)
    })

    test('but not for an item with the whole query, even with a small impact', () => {
      const row: Row = [
        [0, titled],
        [1, faint],
      ]
      expect(order([matched('x', row)], headOf(9, { skills: [0], titles: [1] }))).toEqual([0, 1])
    })

    test('by the score of texts: short fields and skills do not raise the floor', () => {
      const [a, b] = [
        matched(
          'a',
          [
            [0, titled],
            [1, weak],
          ],
          0,
        ),
        matched('b', [[0, titled]], 1),
      ]
      expect(order([a, b], headOf(9, { skills: [0] }))).toEqual(order([a, b], headOf(9)))
    })
  })

  test('throws if the bytes are not postings of the items', () => {
    expect(() => rank([matched('x', [[7, strong]])], headOf(3))).toThrow(RangeError)
    const { postings } = listOf([[1, strong]])
    const cut = { ...matched('x', []), matches: [{ items: 1, postings: postings.subarray(0, 1), closeness: FULL }] }
    expect(() => rank([cut], headOf(3))).toThrow(RangeError)
  })

  test('is an integer of 32 bits for any query', () => {
    const place = fc.constantFrom(PLACE.body, PLACE.named, PLACE.title)
    const row = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 29 }), fc.integer({ min: 1, max: 84 }), place), {
      selector: ([item]) => item,
    })
    const kind = fc.constantFrom('word', 'whole', 'part', 'pair', 'triple' as const)
    const anyTerms = fc.array(fc.record({ row, kind, group: fc.nat(3), weight: fc.integer({ min: 1, max: FULL }) }), {
      maxLength: 64,
    })
    fc.assert(
      fc.property(anyTerms, planned => {
        const terms = planned.map(({ row: postings, kind: of, group, weight }, index) => {
          const sorted = postings.toSorted(([left], [right]) => left - right)
          return matched(
            `t${index}`,
            sorted.map(([item, impact, at]) => [item, packPosting(impact, at)] as const),
            group,
            of,
            weight,
          )
        })
        const { scores, matched: items } = rank(terms, headOf(30, { skills: [3, 4] }))
        expect([...items]).toEqual([...scores.keys()].filter(item => scores[item] !== 0))
      }),
    )
    const full = Array.from({ length: QUERY_TERMS }, (_, index) =>
      matched(`t${index}`, [[0, packPosting(84, PLACE.title)]], index),
    )
    const [score = 0] = scoresOf(full, millionOf(QUERY_TERMS))
    const [one = 0] = scoresOf(full.slice(0, 1), millionOf(1))
    expect(score / one).toBeGreaterThan(QUERY_TERMS)
  })
})

describe('buffers', () => {
  const many = matched(
    'x',
    Array.from({ length: 40 }, (_, item) => [item, titled] as const),
  )
  const few = matched('x', [
    [1, weak],
    [2, strong],
  ])
  const valuesOf = ({ scores, matched: items }: Ranking) => ({ scores: [...scores], items: [...items] })

  test('keep nothing for the next ranking, of fewer or of more items', () => {
    const buffers = new RankingBuffers()
    for (const [term, items] of [[few, 3] as const, [many, 40] as const, [few, 5] as const, [few, 3] as const]) {
      expect(valuesOf(rankItems(buffers, [term], headOf(items)))).toEqual(valuesOf(rank([term], headOf(items))))
    }
  })

  test('are independent of other buffers', () => {
    const first = rankItems(new RankingBuffers(), [few], headOf(5))
    const before = valuesOf(first)
    rankItems(new RankingBuffers(), [many], headOf(40))
    expect(valuesOf(first)).toEqual(before)
  })
})

test('the information of a term falls with the number of items that have it, and is never zero', () => {
  expect(informationOf(0, 1023)).toBe(11 * FULL)
  for (const items of [1, 2, 10, 15_000]) {
    let before = Number.POSITIVE_INFINITY
    for (let found = 1; found <= items; found += Math.ceil(items / 100)) {
      const information = informationOf(found, items)
      expect(Number.isInteger(information)).toBe(true)
      expect(information).toBeGreaterThan(0)
      expect(information).toBeLessThanOrEqual(before)
      expect(Math.abs(information / FULL - Math.max(1 / 16, Math.log2((items + 1) / (found + 0.5))))).toBeLessThan(2 / FULL)
      before = information
    }
  }
})
