import { describe, expect, test } from 'vitest'
import { headOf, matched, order, type Row, scoresOf, strong, titled, weak } from './ranked-lists.ts'

describe('a score', () => {
  test('of a file of a skill, and of a skill in a test folder, is less than that of a skill', () => {
    const row: Row = [0, 1, 2, 3].map(item => [item, strong] as const)
    const [skill = 0, shownSkill = 0, document = 0, file = 0] = scoresOf(
      [matched('x', row)],
      headOf(4, { skills: [0, 1], files: [3], asides: [1] }),
    )
    expect([skill, document, file, shownSkill].map(score => score / document)).toEqual(
      [1.25, 1, 0.8, 0.5].map(factor => expect.closeTo(factor, 2)),
    )
  })

  test('of documents in test folders is below that of every matching skill, in their own order', () => {
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
})
