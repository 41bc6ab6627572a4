import { expect, test } from 'vitest'
import { ownTurn } from '#core/concurrency/own-turn.ts'
import { countTurns } from '#test/support/turn-counter.ts'

test('each caller gets a turn that no other one gets, in the order of the calls', async () => {
  const turns = countTurns()
  const callers = Array.from({ length: 5 }, async () => {
    await ownTurn()
    return turns.turn()
  })
  const [first = 0, ...others] = await Promise.all(callers)
  turns.stop()
  expect(others).toEqual([1, 2, 3, 4].map(number => first + number))
})
