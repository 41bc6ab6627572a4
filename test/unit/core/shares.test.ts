import { expect, test } from 'vitest'
import { createShares, type ShareHolder } from '#core/concurrency/shares.ts'

const LASTING: ShareHolder = {
  pace: () => null,
  displace: () => expect.fail('a holder that lasts was displaced'),
}

/** Shares whose holders last, unless a test says how slow they are. */
function openShares() {
  const shares = createShares({ limit: 10, limitEach: 6 })
  const displaced: string[] = []
  return {
    displaced,
    take: (keys: string[], amount: number) => shares.take(keys, amount, LASTING),
    takeSlowly: (name: string, amount: number, pace: number) =>
      shares.take([name.charAt(0)], amount, { pace: () => pace, displace: () => displaced.push(name) }),
  }
}

test('a key holds no more than its part, and all together no more than the capacity', () => {
  const { take } = openShares()
  expect(take(['a', 'x'], 4)).not.toBeNull()
  expect(take(['a'], 3), 'more than the part of a').toBeNull()
  expect(take(['b', 'x'], 3), 'more than the part of x').toBeNull()
  expect(take(['b'], 6)).not.toBeNull()
  expect(take(['c'], 1), 'the capacity is exhausted').toBeNull()
})

test('what was given back can be taken again, and is given back once', () => {
  const { take } = openShares()
  const giveBack = take(['a'], 6)
  take(['b'], 4)
  giveBack?.()
  giveBack?.()
  expect(take(['c'], 6)).not.toBeNull()
  expect(take(['d'], 1)).toBeNull()
})

test('an amount above every bound is granted while nothing else is held', () => {
  const { take } = openShares()
  const giveBack = take(['a'], 99)
  expect(giveBack).not.toBeNull()
  expect(take(['b'], 1)).toBeNull()
  giveBack?.()
  expect(take(['b'], 1)).not.toBeNull()
  expect(take(['b'], 99)).toBeNull()
})

test('a key that is named twice is counted once', () => {
  expect(openShares().take(['a', 'a'], 6)).not.toBeNull()
})

test('where the capacity is exhausted, the slowest holders make room, and no more of them than needed', () => {
  const { take, takeSlowly, displaced } = openShares()
  takeSlowly('a1', 3, 5)
  takeSlowly('b1', 3, 1)
  takeSlowly('c1', 3, 3)
  expect(take(['d'], 1)).not.toBeNull()
  expect(displaced, 'nothing is displaced while there is room').toEqual([])
  expect(take(['d'], 4)).not.toBeNull()
  expect(displaced).toEqual(['b1', 'c1'])
})

test('where the part of a key is exhausted, a holder of that key makes room, although others are slower', () => {
  const { take, takeSlowly, displaced } = openShares()
  takeSlowly('a1', 3, 5)
  takeSlowly('a2', 3, 4)
  takeSlowly('b1', 3, 1)
  expect(take(['a'], 1)).not.toBeNull()
  expect(displaced).toEqual(['a2'])
})

test('a holder that makes room gave back its amount, once', () => {
  const { take, takeSlowly } = openShares()
  const giveBack = takeSlowly('a1', 6, 1)
  take(['b'], 6)
  giveBack?.()
  expect(take(['c'], 4)).not.toBeNull()
  expect(take(['d'], 1)).toBeNull()
})

test('none is displaced where that would make too little room', () => {
  const { take, takeSlowly, displaced } = openShares()
  take(['a'], 5)
  takeSlowly('a1', 1, 1)
  takeSlowly('b1', 4, 2)
  expect(take(['a'], 2), 'what lasts leaves too little').toBeNull()
  expect(displaced).toEqual([])
})
