import { expect, test } from 'vitest'
import { createShares } from '#core/concurrency/shares.ts'

test('a key holds no more than its part, and all together no more than the capacity', () => {
  const shares = createShares({ limit: 10, limitEach: 6 })
  expect(shares.take(['a', 'x'], 4)).not.toBeNull()
  expect(shares.take(['a'], 3), 'more than the part of a').toBeNull()
  expect(shares.take(['b', 'x'], 3), 'more than the part of x').toBeNull()
  expect(shares.take(['b'], 6)).not.toBeNull()
  expect(shares.take(['c'], 1), 'the capacity is exhausted').toBeNull()
})

test('what was given back can be taken again, and is given back once', () => {
  const shares = createShares({ limit: 10, limitEach: 6 })
  const giveBack = shares.take(['a'], 6)
  shares.take(['b'], 4)
  giveBack?.()
  giveBack?.()
  expect(shares.take(['c'], 6)).not.toBeNull()
  expect(shares.take(['d'], 1)).toBeNull()
})

test('an amount above every bound is granted while nothing else is held', () => {
  const shares = createShares({ limit: 10, limitEach: 6 })
  const giveBack = shares.take(['a'], 99)
  expect(giveBack).not.toBeNull()
  expect(shares.take(['b'], 1)).toBeNull()
  giveBack?.()
  expect(shares.take(['b'], 1)).not.toBeNull()
  expect(shares.take(['b'], 99)).toBeNull()
})

test('a key that is named twice is counted once', () => {
  expect(createShares({ limit: 10, limitEach: 6 }).take(['a', 'a'], 6)).not.toBeNull()
})
