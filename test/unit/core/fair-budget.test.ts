import { expect, test } from 'vitest'
import { type BudgetHolder, createFairBudget } from '#core/concurrency/fair-budget.ts'

/** A budget whose holders are not late, unless a test says how slow they are. */
function openBudget() {
  const budget = createFairBudget({ limit: 12, part: 6 })
  const evicted: string[] = []
  const acquire = (name: string, keys: string[], amount: number, pace: number | null) => {
    const holder: BudgetHolder = { pace: () => pace, evict: () => evicted.push(name) }
    return budget.acquire(keys, amount, holder)
  }
  return {
    evicted,
    /** @param keys a key per letter. The first letter names the holder in `evicted` */
    acquire: (keys: string, amount: number) => acquire(keys, [...keys], amount, null),
    acquireSlowly: (name: string, amount: number, pace: number) => acquire(name, [name.charAt(0)], amount, pace),
  }
}

test('one key holds the whole capacity while no other wants it, and no more', () => {
  const { acquire, evicted } = openBudget()
  expect(acquire('a', 6)).not.toBeNull()
  expect(acquire('a', 6)).not.toBeNull()
  expect(acquire('a', 1)).toBeNull()
  expect(evicted).toEqual([])
})

test('a returned amount can be acquired again, and is returned once', () => {
  const { acquire } = openBudget()
  const giveBack = acquire('a', 6)
  acquire('b', 6)
  giveBack?.()
  giveBack?.()
  expect(acquire('c', 6)).not.toBeNull()
  expect(acquire('c', 1)).toBeNull()
})

test('an amount above the capacity is granted while nothing else is held, and makes room for less', () => {
  const { acquire, evicted } = openBudget()
  expect(acquire('a', 99)).not.toBeNull()
  expect(acquire('a', 1)).toBeNull()
  expect(acquire('b', 99)).toBeNull()
  expect(acquire('b', 1)).not.toBeNull()
  expect(evicted).toEqual(['a'])
  expect(acquire('a', 99)).toBeNull()
})

test('at full capacity, the slowest holders are evicted, and no more of them than needed', () => {
  const { acquire, acquireSlowly, evicted } = openBudget()
  acquireSlowly('a1', 3, 5)
  acquireSlowly('b1', 3, 1)
  acquireSlowly('c1', 3, 3)
  expect(acquire('d', 3)).not.toBeNull()
  expect(evicted, 'nothing is evicted while there is room').toEqual([])
  expect(acquire('e', 4)).not.toBeNull()
  expect(evicted).toEqual(['b1', 'c1'])
})

test('a key above its part evicts only its own slow holders, although others are slower', () => {
  const { acquire, acquireSlowly, evicted } = openBudget()
  acquireSlowly('b1', 4, 1)
  acquireSlowly('a1', 3, 5)
  acquire('a', 5)
  expect(acquire('a', 4), 'too little room').toBeNull()
  expect(evicted, 'none is evicted for nothing').toEqual([])
  expect(acquire('a', 3)).not.toBeNull()
  expect(evicted).toEqual(['a1'])
})

test('any number of newcomers of one key evict no slow holder of another one', () => {
  const { acquire, acquireSlowly, evicted } = openBudget()
  acquireSlowly('b1', 2, 1)
  for (let number = 0; number < 20; number++) acquire('a', 2)
  expect(evicted).toEqual([])
})

test('without slow holders, the key that holds most makes room for one that holds less: its oldest holder first', () => {
  const { acquire, evicted } = openBudget()
  for (const keys of ['b', 'ax', 'ay', 'az']) expect(acquire(keys, 3)).not.toBeNull()
  expect(acquire('c', 3)).not.toBeNull()
  expect(evicted).toEqual(['ax'])
  expect(acquire('c', 3), 'c would hold as much as a').toBeNull()
  expect(acquire('a', 3)).toBeNull()
  expect(evicted).toEqual(['ax'])
})

test('holders of one key are distinguished by the other one: those of one client by repository, those of one repository by client', () => {
  for (const [first, second, third] of [
    ['ap', 'bp', 'cp'],
    ['pa', 'pb', 'pc'],
  ] as const) {
    const { acquire, evicted } = openBudget()
    acquire(first, 4)
    acquire(first, 4)
    acquire(second, 4)
    expect(acquire(third, 2)).not.toBeNull()
    expect(evicted).toEqual([first])
    acquire(third, 2)
    expect(acquire(third, 2), 'no more than each of the others').toBeNull()
  }
})

test('a client that reads of many repositories makes room for another client', () => {
  const { acquire, evicted } = openBudget()
  for (const repository of ['a', 'b', 'c', 'd']) acquire(`${repository}x`, 3)
  expect(acquire('ey', 3)).not.toBeNull()
  expect(evicted).toEqual(['ax'])
  expect(acquire('fx', 3), 'that client does not come back at the cost of the other').toBeNull()
})

test('a holder that makes room gave back its amount, once', () => {
  const { acquire, acquireSlowly } = openBudget()
  const giveBack = acquireSlowly('a1', 12, 1)
  acquire('b', 6)
  giveBack?.()
  expect(acquire('c', 6)).not.toBeNull()
  expect(acquire('c', 1)).toBeNull()
})
