import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FULL } from '#api/search/fixed-point.ts'
import { closeWords, editDistance } from '#api/search/spelling.ts'

const words = Object.entries({ deploy: 3, deployment: 9, depot: 1, native: 2, strategy: 1, strategies: 4 }).map(
  ([word, items]) => {
    return { word, items }
  },
)

describe('a misspelled word', () => {
  test.each([
    ['natvie', ['native']],
    ['bative', ['native']],
    ['nativ', ['native']],
    ['depl', ['deployment', 'deploy']],
    ['stratgey', ['strategy']],
    ['sratgy', []],
    ['nat', []],
    ['zzzz', []],
    ['native', []],
    ['x'.repeat(500), []],
  ])('%s may mean %j', (term, expected) => {
    expect(closeWords(term, words).map(({ word }) => word)).toEqual(expected)
  })

  test('has at most four close words: by edits, then by frequency, then by code units; fewer edits count more', () => {
    const many = ['abcdefgx', 'abcdefgy', 'abcdefxy', 'abcdefg', 'bacdefgh', 'abcdefghi'].map(word => ({ word, items: 1 }))
    expect(closeWords('abcdefgh', many).map(({ word }) => word)).toEqual(['abcdefg', 'abcdefghi', 'abcdefgx', 'abcdefgy'])
    const [close] = closeWords('abcdefgh', [{ word: 'abcdefgx', items: 1 }])
    const [far] = closeWords('abcdefgh', [{ word: 'abcdefxy', items: 1 }])
    expect(close?.closeness).toBe(Math.floor(0.55 * FULL))
    expect(far?.closeness).toBe(Math.floor(Math.floor(0.55 * FULL) / 2))
  })
})

describe('edits', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })

  test('are those of the full edit matrix, up to the limit', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 3 }), (left, right, most) => {
        const edits = editDistance(left, right, most)
        const exact = tableDistance(left, right)
        if (exact <= most) expect(edits).toBe(exact)
        else expect(edits).toBeGreaterThan(most)
      }),
      { numRuns: 2000 },
    )
  })

  test('count swaps of neighbours as one', () => {
    expect([editDistance('ab', 'ba', 9), editDistance('kitten', 'sitting', 9), editDistance('', 'abc', 9)]).toEqual([1, 3, 3])
  })
})

function tableDistance(left: string, right: string): number {
  const table = Array.from({ length: left.length + 1 }, (_, row) =>
    Array.from({ length: right.length + 1 }, (__, column) => row + column),
  )
  const at = (row: number, column: number) => table[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= left.length; row++) {
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      const swapped = isSwap && row > 1 && column > 1 ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY
      const cells = table[row] ?? []
      cells[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        swapped,
      )
    }
  }
  return at(left.length, right.length)
}
