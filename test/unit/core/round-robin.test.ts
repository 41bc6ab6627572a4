import { expect, test } from 'vitest'
import { nextSlot } from '#core/concurrency/fair-gate.ts'
import { countTurns } from '#test/support/turn-counter.ts'

const { signal } = new AbortController()

/** The turns in which callers with these keys were served. */
async function turnsOf(keys: readonly string[]): Promise<number[]> {
  const counted = countTurns()
  const callers = keys.map(async key => {
    await nextSlot(key, signal)
    return counted.turn()
  })
  const served = await Promise.all(callers)
  counted.stop()
  return served
}

test('each caller gets a turn that no other one gets, those of one key in the order of the calls', async () => {
  const [first = 0, ...others] = await turnsOf(['a', 'a', 'a', 'a', 'a'])
  expect(others).toEqual([1, 2, 3, 4].map(number => first + number))
})

test('a key with hundreds of callers delays those of another one by a turn each', async () => {
  const served = await turnsOf([...Array.from({ length: 300 }, () => 'crowd'), 'b', 'b', 'c'])
  const [first = 0] = served
  expect(served.slice(-3).map(turn => turn - first)).toEqual([1, 4, 2])
  expect(new Set(served).size).toBe(served.length)
})

test('a caller that leaves takes no turn', async () => {
  const leaving = new AbortController()
  const left = Array.from({ length: 300 }, () => expect(nextSlot('crowd', leaving.signal)).rejects.toThrow('left'))
  leaving.abort(new Error('left'))
  const [turn] = await turnsOf(['crowd'])
  await Promise.all(left)
  expect(turn).toBeLessThanOrEqual(2)
})
