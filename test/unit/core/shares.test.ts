import { expect, test } from 'vitest'
import { createShares, type ShareHolder } from '#core/concurrency/shares.ts'

/** Shares whose holders are not late, unless a test says how slow they are. */
function openShares() {
  const shares = createShares({ limit: 12, part: 6 })
  const displaced: string[] = []
  const take = (name: string, keys: string[], amount: number, pace: number | null) => {
    const holder: ShareHolder = { pace: () => pace, displace: () => displaced.push(name) }
    return shares.take(keys, amount, holder)
  }
  return {
    displaced,
    /** @param keys a key per letter. The first letter names the holder in `displaced` */
    take: (keys: string, amount: number) => take(keys, [...keys], amount, null),
    takeSlowly: (name: string, amount: number, pace: number) => take(name, [name.charAt(0)], amount, pace),
  }
}

test('one key holds the whole capacity where nobody else wants it, and no more', () => {
  const { take, displaced } = openShares()
  expect(take('a', 6)).not.toBeNull()
  expect(take('a', 6)).not.toBeNull()
  expect(take('a', 1)).toBeNull()
  expect(displaced).toEqual([])
})

test('what was given back can be taken again, and is given back once', () => {
  const { take } = openShares()
  const giveBack = take('a', 6)
  take('b', 6)
  giveBack?.()
  giveBack?.()
  expect(take('c', 6)).not.toBeNull()
  expect(take('c', 1)).toBeNull()
})

test('an amount above the capacity is granted while nothing else is held, and makes room for less', () => {
  const { take, displaced } = openShares()
  expect(take('a', 99)).not.toBeNull()
  expect(take('a', 1)).toBeNull()
  expect(take('b', 99)).toBeNull()
  expect(take('b', 1)).not.toBeNull()
  expect(displaced).toEqual(['a'])
  expect(take('a', 99)).toBeNull()
})

test('where the capacity is exhausted, the slowest holders make room, and no more of them than needed', () => {
  const { take, takeSlowly, displaced } = openShares()
  takeSlowly('a1', 3, 5)
  takeSlowly('b1', 3, 1)
  takeSlowly('c1', 3, 3)
  expect(take('d', 3)).not.toBeNull()
  expect(displaced, 'nothing is displaced while there is room').toEqual([])
  expect(take('e', 4)).not.toBeNull()
  expect(displaced).toEqual(['b1', 'c1'])
})

test('a key that would hold more than its part displaces only its own slow holders, although others are slower', () => {
  const { take, takeSlowly, displaced } = openShares()
  takeSlowly('b1', 4, 1)
  takeSlowly('a1', 3, 5)
  take('a', 5)
  expect(take('a', 4), 'too little room').toBeNull()
  expect(displaced, 'none is displaced for nothing').toEqual([])
  expect(take('a', 3)).not.toBeNull()
  expect(displaced).toEqual(['a1'])
})

test('newcomers of one key do not displace a slow holder of another one, however many they are', () => {
  const { take, takeSlowly, displaced } = openShares()
  takeSlowly('b1', 2, 1)
  for (let number = 0; number < 20; number++) take('a', 2)
  expect(displaced).toEqual([])
})

test('without slow holders, the key that holds most makes room for one that holds less: its oldest holder first', () => {
  const { take, displaced } = openShares()
  for (const keys of ['b', 'ax', 'ay', 'az']) expect(take(keys, 3)).not.toBeNull()
  expect(take('c', 3)).not.toBeNull()
  expect(displaced).toEqual(['ax'])
  expect(take('c', 3), 'c would hold as much as a').toBeNull()
  expect(take('a', 3)).toBeNull()
  expect(displaced).toEqual(['ax'])
})

test('holders of one key are told apart by the other: those of one client by repository, those of one repository by client', () => {
  for (const [first, second, third] of [
    ['ap', 'bp', 'cp'],
    ['pa', 'pb', 'pc'],
  ] as const) {
    const { take, displaced } = openShares()
    take(first, 4)
    take(first, 4)
    take(second, 4)
    expect(take(third, 2)).not.toBeNull()
    expect(displaced).toEqual([first])
    take(third, 2)
    expect(take(third, 2), 'no more than each of the others').toBeNull()
  }
})

test('a client that reads of many repositories makes room for another client', () => {
  const { take, displaced } = openShares()
  for (const repository of ['a', 'b', 'c', 'd']) take(`${repository}x`, 3)
  expect(take('ey', 3)).not.toBeNull()
  expect(displaced).toEqual(['ax'])
  expect(take('fx', 3), 'that client does not come back at the cost of the other').toBeNull()
})

test('a holder that makes room gave back its amount, once', () => {
  const { take, takeSlowly } = openShares()
  const giveBack = takeSlowly('a1', 12, 1)
  take('b', 6)
  giveBack?.()
  expect(take('c', 6)).not.toBeNull()
  expect(take('c', 1)).toBeNull()
})
