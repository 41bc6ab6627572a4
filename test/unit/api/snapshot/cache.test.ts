import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCache } from '#api/snapshot/cache.ts'

const MOST = 10_000
/** What an entry takes beside its value, at most. */
const ENTRY_BYTES = 300

test('a cache holds no more than its limit, and returns values as they were read, for any requests', async () => {
  const asked = fc.array(fc.record({ key: fc.nat(20), size: fc.nat(4_000), isThere: fc.boolean() }), { maxLength: 200 })
  await fc.assert(
    fc.asyncProperty(asked, async lookups => {
      const cache = createCache(MOST)
      for (const { key, size, isThere } of lookups) {
        const found = await cache.get(`${key}`, async () => (isThere ? { value: `value of ${key}`, sizeBytes: size } : null))
        expect([null, `value of ${key}`]).toContain(found)
        expect(cache.sizeBytes).toBeLessThanOrEqual(MOST)
      }
    }),
  )
})

test('the most recently used value stays; one above the limit is passed through', async () => {
  const cache = createCache(3 * (1_000 + ENTRY_BYTES))
  let reads = 0
  const ask = (key: string, size = 1_000) =>
    cache.get(key, async () => {
      reads++
      return { value: key, sizeBytes: size }
    })
  for (const key of ['a', 'b', 'c', 'a', 'd', 'a']) expect(await ask(key)).toBe(key)
  expect(reads).toBe(4)
  expect(await ask('huge', 1_000_000)).toBe('huge')
  expect(await ask('huge', 1_000_000)).toBe('huge')
  expect(reads).toBe(6)
  expect(cache.sizeBytes).toBeLessThanOrEqual(3 * (1_000 + ENTRY_BYTES))
})

test('simultaneous requests share one read; a failed or missing one is read again', async () => {
  const cache = createCache(MOST)
  let reads = 0
  const outcomes = ['failed', 'missing', 'there']
  const read = async () => {
    const outcome = outcomes[reads++]
    await new Promise(resolve => setImmediate(resolve))
    if (outcome === 'failed') throw new Error('EIO')
    return outcome === 'missing' ? null : { value: 'value', sizeBytes: 1 }
  }
  const askAll = () => Promise.allSettled(Array.from({ length: 30 }, () => cache.get('key', read)))
  expect(new Set((await askAll()).map(({ status }) => status))).toEqual(new Set(['rejected']))
  expect(await askAll()).toEqual(Array.from({ length: 30 }, () => ({ status: 'fulfilled', value: null })))
  expect(await askAll()).toEqual(Array.from({ length: 30 }, () => ({ status: 'fulfilled', value: 'value' })))
  expect(await cache.get('key', read)).toBe('value')
  expect(reads).toBe(3)
})

test('a forgotten value is read again, and a newer one stays', async () => {
  const cache = createCache(MOST)
  const [one, other] = [{ name: 'one' }, { name: 'other' }]
  await cache.get('key', async () => ({ value: one, sizeBytes: 1 }))
  cache.forget('key', other)
  expect(await cache.get('key', async () => ({ value: other, sizeBytes: 1 }))).toBe(one)
  cache.forget('key', one)
  expect(await cache.get('key', async () => ({ value: other, sizeBytes: 1 }))).toBe(other)
  cache.forget('nothing', other)
})
