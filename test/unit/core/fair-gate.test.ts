import { expect, test } from 'vitest'
import { createFairGate, type FairGateLimits, GateFull } from '#core/concurrency/fair-gate.ts'

/** A gate with tasks that end when the test says so, and the order in which they began. */
function openGate(limits: Partial<FairGateLimits>) {
  const gate = createFairGate({ limit: 1, limitEach: 1, maxWaitingEach: 100, ...limits })
  const began: string[] = []
  const ends = new Map<string, () => void>()
  return {
    began,
    /** @param name begins with the key */
    start: (name: string, signal?: AbortSignal) => {
      const task = async () => {
        began.push(name)
        await new Promise<void>(resolve => ends.set(name, resolve))
        return name
      }
      return gate(name.charAt(0), task, signal)
    },
    async end(name: string) {
      ends.get(name)?.()
      await new Promise(resolve => setImmediate(resolve))
    },
  }
}

test('keys take turns, and the tasks of one key run in their order', async () => {
  const { start, end, began } = openGate({})
  const tasks = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(name => start(name))
  for (const name of ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']) await end(name)
  expect(await Promise.all(tasks)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'b2'])
  expect(began).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('a key holds no more than its own places, although others are free', async () => {
  const { start, end, began } = openGate({ limit: 3, limitEach: 2 })
  const tasks = ['a1', 'a2', 'a3', 'b1', 'b2'].map(name => start(name))
  expect(began).toEqual(['a1', 'a2', 'b1'])
  await end('a1')
  expect(began).toEqual(['a1', 'a2', 'b1', 'b2'])
  await end('b1')
  expect(began.at(-1)).toBe('a3')
  for (const name of ['a2', 'a3', 'b2']) await end(name)
  await Promise.all(tasks)
})

test('a key has a bounded number of waiting tasks, and others wait beside them', async () => {
  const { start, end, began } = openGate({ maxWaitingEach: 1 })
  const tasks = ['a1', 'a2', 'b1'].map(name => start(name))
  await expect(start('a3')).rejects.toThrow(GateFull)
  for (const name of ['a1', 'b1', 'a2']) await end(name)
  await Promise.all(tasks)
  expect(began).toEqual(['a1', 'b1', 'a2'])
})

test('an aborted task leaves its line, and its place goes to another one', async () => {
  const { start, end, began } = openGate({ maxWaitingEach: 1 })
  const leaving = new AbortController()
  const first = start('a1')
  const left = [start('a2', leaving.signal), start('b1', leaving.signal)]
  const refused = left.map(task => expect(task).rejects.toThrow('left'))
  leaving.abort(new Error('left'))
  await Promise.all(refused)
  const third = start('a3')
  await expect(start('c1', leaving.signal)).rejects.toThrow('left')
  for (const name of ['a1', 'a3']) await end(name)
  expect(await Promise.all([first, third])).toEqual(['a1', 'a3'])
  expect(began).toEqual(['a1', 'a3'])
})

test('if too many tasks wait in all, the longest line loses its newest task', async () => {
  const { start, end, began } = openGate({ maxWaiting: 3 })
  const tasks = ['a1', 'a2', 'a3'].map(name => start(name))
  const surplus = start('a4')
  const refused = expect(surplus).rejects.toThrow(GateFull)
  tasks.push(start('b1'))
  await refused
  await expect(start('a5'), 'the longest line gets no longer').rejects.toThrow(GateFull)
  tasks.push(start('c1'))
  await expect(tasks[2]).rejects.toThrow(GateFull)
  await expect(start('d1'), 'all lines are equally short').rejects.toThrow(GateFull)
  for (const name of ['a1', 'b1', 'c1', 'a2']) await end(name)
  expect(began).toEqual(['a1', 'b1', 'c1', 'a2'])
})

test('a task that fails gives its place back', async () => {
  const gate = createFairGate({ limit: 1, limitEach: 1, maxWaitingEach: 1 })
  await expect(gate('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await gate('b', async () => 'fine')).toBe('fine')
})
