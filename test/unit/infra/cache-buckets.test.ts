import { expect, test } from 'vitest'
import { openCacheBuckets } from '#infra/github/shared-cache.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'

const NOW = 1_000_000_000

/** Answers whose digests all choose one entry. */
function openBucket() {
  const states = createMemoryStateStore()
  const buckets = openCacheBuckets(states, 'gh')
  const idOf = (number: number) => `abcd${number}`
  return {
    states,
    read: async (number: number) => (await buckets.read(idOf(number))).answer,
    write: async (number: number, value: string | null, askedAt = NOW, since = 0) =>
      await (await buckets.read(idOf(number))).write({ askedAt, since, value }),
    bucket: (number: number) => buckets.read(idOf(number)),
  }
}

test('an entry keeps the newest answers, and names of nothing evict no value', async () => {
  const { states, read, write } = openBucket()
  for (let number = 0; number < 10; number++) await write(number, `value ${number}`, NOW + number)
  for (let number = 10; number < 30; number++) await write(number, null, NOW + number)
  const kept = await Promise.all(Array.from({ length: 30 }, (_, number) => read(number)))
  expect(kept.flatMap((answer, number) => (answer ? [number] : []))).toEqual([6, 7, 8, 9, 26, 27, 28, 29])
  expect(await states.list('')).toEqual(['ctl/answers/gh/abcd'])
})

test('an older answer does not replace a newer one, unless its asker knew later changes', async () => {
  const { read, write } = openBucket()
  await write(1, 'new')
  await write(1, 'old', NOW - 1)
  expect(await read(1)).toMatchObject({ value: 'new' })
  await write(1, 'by a clock that is behind', NOW - 1, 7)
  expect(await read(1)).toMatchObject({ value: 'by a clock that is behind' })
  await write(1, null, NOW + 1, 7)
  expect(await read(1)).toMatchObject({ value: null })
})

test('answers that are written at the same time are all kept', async () => {
  const { read, bucket } = openBucket()
  const [one, other] = [await bucket(1), await bucket(2)]
  await Promise.all([
    one.write({ askedAt: NOW, since: 0, value: 'one' }),
    other.write({ askedAt: NOW, since: 0, value: 'other' }),
  ])
  expect([await read(1), await read(2)]).toMatchObject([{ value: 'one' }, { value: 'other' }])
})

test('a large value is not stored, and unused answers are removed', async () => {
  const { read, write } = openBucket()
  await write(1, 'x'.repeat(5_000))
  expect(await read(1)).toBeNull()
  await write(2, 'old')
  await write(3, 'new', NOW + 600_000)
  expect(await read(2)).toBeNull()
})
