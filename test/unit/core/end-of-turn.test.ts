import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Awaitable, whenThere } from '#core/concurrency/awaitable.ts'
import { endOfTurn } from '#core/concurrency/end-of-turn.ts'

test('callers of one turn go on together, after everything that this turn had begun', async () => {
  const order: string[] = []
  const callers = ['a', 'b'].map(async name => {
    order.push(`${name} calls`)
    await endOfTurn()
    order.push(`${name} goes on`)
  })
  expect(endOfTurn()).toBe(endOfTurn())
  await Promise.all(callers)
  expect(order).toEqual(['a calls', 'b calls', 'a goes on', 'b goes on'])
})

test('a caller of the next turn waits for the end of that turn', async () => {
  const first = endOfTurn()
  await setImmediate()
  expect(endOfTurn()).not.toBe(first)
})

test('a value is used at once, a promise when it is fulfilled', async () => {
  const double = (value: Awaitable<number>) => whenThere(value, number => 2 * number)
  expect(double(2)).toBe(4)
  const later = double(Promise.resolve(3))
  expect(later).toBeInstanceOf(Promise)
  expect(await later).toBe(6)
})
