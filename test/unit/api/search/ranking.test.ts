import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FULL } from '#api/search/fixed-point.ts'
import { QUERY_TERMS } from '#api/search/query.ts'
import { type Ranking, rankItems } from '#api/search/ranking.ts'
import { RankingBuffers } from '#api/search/ranking-buffers.ts'
import { informationOf, type MatchedTerm } from '#api/search/term-weights.ts'
import { ITEM_KIND } from '#core/search/head.ts'
import { PLACE, packPosting } from '#core/search/postings.ts'
import { encodePostings } from '#test/support/posting-list.ts'

type Row = readonly (readonly [item: number, posting: number])[]

function listOf(row: Row, closeness = FULL) {
  return { items: row.length, postings: encodePostings(row), closeness }
}

function matched(term: string, row: Row, group = 0, kind: MatchedTerm['kind'] = 'word', weight = FULL): MatchedTerm {
  return { term, kind, group, weight, matches: row.length === 0 ? [] : [listOf(row)] }
}

/** Documents whose titles have two terms; skills where their numbers are named. */
function headOf(
  items: number,
  { skills = [] as number[], titles = [] as number[], files = [] as number[], asides = [] as number[] } = {},
) {
  const kindOf = (item: number) => (skills.includes(item) ? 'skill' : files.includes(item) ? 'file' : 'document')
  const kinds = Uint8Array.from({ length: items }, (_, item) => ITEM_KIND[kindOf(item)])
  const aside = Uint8Array.from({ length: items }, (_, item) => (asides.includes(item) ? 1 : 0))
  return {
    kinds,
    asides: aside,
    copies: new Map<number, number>(),
    titleLengths: Uint8Array.from({ length: items }, (_, item) => titles[item] ?? 2),
  }
}

/** A million skills whose titles have so many terms. */
function millionOf(titleLength: number): ReturnType<typeof headOf> {
  const [kinds, asides] = [new Uint8Array(1_000_000), new Uint8Array(1_000_000)]
  return { kinds, asides, copies: new Map(), titleLengths: new Uint8Array(1_000_000).fill(titleLength) }
}

function rank(terms: readonly MatchedTerm[], head: ReturnType<typeof headOf>): Ranking {
  return rankItems(new RankingBuffers(), terms, head)
}

function scoresOf(terms: readonly MatchedTerm[], head: ReturnType<typeof headOf>): number[] {
  return [...rank(terms, head).scores]
}

function order(terms: readonly MatchedTerm[], head: ReturnType<typeof headOf>): number[] {
  const { scores } = rank(terms, head)
  const items = [...scores.keys()].filter(item => (scores[item] ?? 0) > 0)
  return items.sort((left, right) => (scores[right] ?? 0) - (scores[left] ?? 0) || left - right)
}

const weak = packPosting(10, PLACE.body)
const strong = packPosting(60, PLACE.body)
const named = packPosting(60, PLACE.named)
const titled = packPosting(60, PLACE.title)

describe('a score', () => {
  test('of a file of a skill, and of a skill in a folder for tests, is less than that of a skill', () => {
    const row: Row = [0, 1, 2, 3].map(item => [item, strong] as const)
    const [skill = 0, shownSkill = 0, document = 0, file = 0] = scoresOf(
      [matched('x', row)],
      headOf(4, { skills: [0, 1], files: [3], asides: [1] }),
    )
    expect([skill, document, file, shownSkill].map(score => score / document)).toEqual(
      [1.25, 1, 0.8, 0.5].map(factor => expect.closeTo(factor, 2)),
    )
  })

  test('of documents in folders for tests is below that of every skill that matches, in their own order', () => {
    const terms = [
      matched(
        'a',
        [
          [0, weak],
          [1, titled],
          [2, strong],
        ],
        0,
      ),
      matched(
        'b',
        [
          [1, titled],
          [2, titled],
        ],
        1,
      ),
      matched('c', [[3, weak]], 2),
    ]
    expect(order(terms, headOf(4, { skills: [0, 3], asides: [1, 2] })).slice(-2)).toEqual([1, 2])
    // Without skills they are results like others.
    expect(order(terms, headOf(4, { asides: [1, 2] }))[0]).toBe(1)
  })

  test('gains from a title of several terms that a long query contains, and not from one word', () => {
    const others = Array.from({ length: 4 }, (_, group) => matched(`w${group}`, [[2, weak]], group + 2))
    const terms = [
      matched(
        'a',
        [0, 1].map(item => [item, titled] as const),
        0,
      ),
      matched(
        'b',
        [
          [0, titled],
          [1, strong],
        ],
        1,
      ),
      ...others,
    ]
    const [both = 0] = scoresOf(terms, headOf(3, { titles: [2, 2] }))
    const [part = 0] = scoresOf(terms, headOf(3, { titles: [3, 2] }))
    const [single = 0] = scoresOf([matched('a', [[0, titled]]), ...others], headOf(3, { titles: [1] }))
    const [longer = 0] = scoresOf([matched('a', [[0, titled]]), ...others], headOf(3, { titles: [9] }))
    expect(both / part).toBeGreaterThan(1.25)
    expect(single / longer).toBeLessThan(1.25)
  })

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

    test('but not for an item with the whole query, however small its impact', () => {
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

  test('carry nothing over to the next ranking, whichever has more items', () => {
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
