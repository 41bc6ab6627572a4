import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FULL } from '#api/search/fixed-point.ts'
import { planQuery, QUERY_GROUPS, QUERY_TERMS } from '#api/search/query.ts'

const own = (query: string) => planQuery(query).flatMap(({ term, weight }) => (weight === FULL ? [term] : []))
const others = (query: string) => planQuery(query).flatMap(({ term, weight }) => (weight < FULL ? [term] : []))

describe('the terms of a query', () => {
  test('are distinct, in the order of the query', () => {
    expect(own('Tokens, max_tokens')).toEqual(['token', 'max', 'max_tokens'])
  })

  test('have no operators', () => {
    expect(own('install AND "vue* -router \0 \ud800 NOT (x)')).toEqual(['install', 'and', 'vue', 'router', 'not', 'x'])
    expect(own('“ 、。 \ud800 — *')).toEqual([])
  })

  test('are followed by triples of characters', () => {
    expect(planQuery('の算出 x').map(({ term, kind }) => [term, kind])).toEqual([
      ['の算', 'pair'],
      ['算出', 'pair'],
      ['x', 'word'],
      ['の算出', 'triple'],
    ])
  })

  test('are bounded', () => {
    expect(planQuery(Array.from({ length: 100 }, (_, at) => `w${at}`).join(' '))).toHaveLength(QUERY_GROUPS)
    expect(planQuery(Array.from({ length: 200 }, (_, at) => `w${at}`).join('.'))).toHaveLength(QUERY_TERMS)
    const ideographs = Array.from({ length: 500 }, (_, at) => String.fromCharCode(0x4e00 + at)).join('')
    expect(planQuery(ideographs)).toHaveLength(QUERY_TERMS)
  })

  test('are distinct, well-formed and bounded for any 500 characters', () => {
    const text = fc.string({
      unit: fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), fc.constantFrom('pr ', 'aB', '漢', 'ไ')),
      maxLength: 250,
    })
    fc.assert(
      fc.property(text, query => {
        const terms = planQuery(query).map(({ term }) => term)
        expect(new Set(terms).size).toBe(terms.length)
        expect(terms.length).toBeLessThanOrEqual(QUERY_TERMS)
        expect(terms.every(term => term.isWellFormed() && term !== '')).toBe(true)
      }),
    )
  })
})

describe('synonyms', () => {
  test.each([
    ['open a PR', ['pull', 'request']],
    ['review pull requests', ['pr']],
    ['k8s', ['kubernete']],
    ['CI/CD', ['continuous', 'integration']],
    ['continuous integration', ['ci', 'ci/cd']],
    ['csharp', ['c#']],
    ['c++', ['cpp']],
    ['pull out a request', []],
    ['kubernetes k8s', []],
  ])('%j is expanded by %j', (query, expected) => {
    expect(others(query)).toEqual(expected)
  })
})
