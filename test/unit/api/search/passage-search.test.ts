import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPassageSearch } from '#api/search/listing.ts'

function work(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

test('long work in pieces lets other tasks run before it ends', async () => {
  const { inTurn } = createPassageSearch([])
  const events: string[] = []
  const pieces = Array.from({ length: 4 }, (_, piece) =>
    inTurn(() => {
      work(20)
      events.push(`piece ${piece}`)
    }),
  )
  const other = setImmediate().then(() => events.push('other'))
  await Promise.all([...pieces, other])
  expect(events.filter(event => event !== 'other')).toEqual(['piece 0', 'piece 1', 'piece 2', 'piece 3'])
  expect(events.at(-1)).toBe('piece 3')
})

test('a piece that fails, fails alone', async () => {
  const { inTurn } = createPassageSearch([])
  const failing = inTurn(() => {
    throw new Error('one')
  })
  const other = inTurn(() => 'two')
  await expect(failing).rejects.toThrow('one')
  expect(await other).toBe('two')
})
