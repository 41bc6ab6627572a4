import { describe, expect, test } from 'vitest'
import { AnswerCache, type CachedAnswer, type CacheTimes } from '#infra/github/answer-cache.ts'
import type { SharedNamespace, TimedAnswer } from '#infra/github/shared-cache.ts'
import { until } from '#test/support/until.ts'

const TIMES = { freshSeconds: 60, staleSeconds: 600 }

const MAX_BYTES = 20_000

/** A cache whose questions are written down. Keys that begin with `none` stand for nothing. */
function openCache(maxBytes = MAX_BYTES) {
  const clock = { at: 0, now: () => new Date(clock.at) }
  const cache = new AnswerCache<string>({ maxBytes, patienceMs: 1_000, clock })
  const asked: string[] = []
  const get = (key: string, value = key) =>
    cache.get(key, TIMES, async (): Promise<CachedAnswer<string>> => {
      asked.push(key)
      return key.startsWith('none') ? { status: 'missing' } : { status: 'ok', value }
    })
  return { cache, clock, asked, get }
}

test('missing names evict missing names, and no value', async () => {
  const { asked, get } = openCache()
  await get('known')
  for (let index = 0; index < 1_000; index++) await get(`none-${index}`)
  asked.length = 0
  expect(await get('known')).toEqual({ status: 'ok', value: 'known' })
  expect(await get('none-999')).toEqual({ status: 'missing' })
  expect(asked).toEqual([])
  await get('none-0')
  expect(asked).toEqual(['none-0'])
})

test('a large value takes the room of many, and one above the limit is not cached', async () => {
  const { asked, get } = openCache()
  const [small, large, huge] = ['s'.repeat(100), 'l'.repeat(3_000), 'h'.repeat(MAX_BYTES)]
  for (const value of [small, huge]) await get(value)
  asked.length = 0
  for (const value of [small, huge]) await get(value)
  expect(asked).toEqual([huge])
  await get(large)
  await get(large.toUpperCase())
  asked.length = 0
  await get(small)
  expect(asked).toEqual([small])
})

test.each(['ref', 'none'])('21,000 long names of a %s are kept by their bytes', async begin => {
  const maxBytes = 4 * 1024 * 1024
  const { cache, asked, get } = openCache(maxBytes)
  const name = (number: number) => `${begin}-${number}-`.padEnd(2_000, 'x')
  for (let number = 0; number < 21_000; number++) await get(name(number))
  expect(cache.sizeBytes).toBeLessThanOrEqual(maxBytes)
  asked.length = 0
  await get(name(20_999))
  expect(asked).toEqual([])
  for (let number = 21_000 - maxBytes / 2_000; number < 21_000; number++) await get(name(number))
  expect(asked.length).toBeGreaterThan(0)
})

test('a removed value is missing, and a new one is found', async () => {
  const { cache, clock, asked } = openCache()
  const answers: CachedAnswer<string>[] = [{ status: 'ok', value: 'a' }, { status: 'missing' }, { status: 'ok', value: 'b' }]
  for (const answer of answers) {
    const given = await cache.get('key', TIMES, async known => {
      asked.push(String(known))
      return answer
    })
    expect(given).toEqual(answer)
    expect(cache.known('key')).toEqual(answer)
    clock.at += 61_000
  }
  expect(asked).toEqual(['null', 'a', 'null'])
})

describe('with answers of other processes', () => {
  /** Two caches that share their answers. */
  function openTwo() {
    const clock = { at: 1_000_000, now: () => new Date(clock.at) }
    const stored = new Map<string, TimedAnswer<string>>()
    const shared: SharedNamespace<string> = {
      get: async key => ({ found: stored.get(key) ?? null, publish: answer => void stored.set(key, answer) }),
    }
    const asked: string[] = []
    const open = (name: string) => {
      const heard: string[] = []
      const onShared = (key: string, askedAt: number) => void heard.push(`${key} ${askedAt}`)
      const cache = new AnswerCache<string>({ patienceMs: 1_000, clock, shared, onShared })
      const get = (times: CacheTimes = TIMES) =>
        cache.get('key', times, async (): Promise<CachedAnswer<string>> => {
          asked.push(name)
          return { status: 'ok', value: `${name} ${clock.at}` }
        })
      return { cache, get, heard }
    }
    return { clock, asked, stored, first: open('first'), second: open('second') }
  }

  test('the asking process refreshes before the answer expires, in the background, and the other does not', async () => {
    const { clock, asked, first, second } = openTwo()
    await first.get()
    expect(await second.get()).toEqual({ status: 'ok', value: 'first 1000000' })
    expect([asked, second.heard]).toEqual([['first'], ['key 1000000']])
    clock.at += 56_000
    expect(await second.get()).toEqual({ status: 'ok', value: 'first 1000000' })
    expect(await first.get()).toEqual({ status: 'ok', value: 'first 1000000' })
    await until(async () => JSON.stringify(await first.get()).includes('1056000'))
    clock.at += 5_000
    expect(await second.get()).toEqual({ status: 'ok', value: 'first 1056000' })
    expect(asked).toEqual(['first', 'first'])
  })

  test('an answer that is too old for a caller is not returned to it, even if another caller waits for the same key', async () => {
    const { clock, asked, first, second } = openTwo()
    await first.get()
    clock.at += 40_000
    const [patient, strict] = [second.get(), second.get({ freshSeconds: 30, staleSeconds: 600 })]
    expect(await patient).toEqual({ status: 'ok', value: 'first 1000000' })
    expect(await strict).toEqual({ status: 'ok', value: 'second 1040000' })
    expect(asked).toEqual(['first', 'second'])
  })

  test('an answer that is dropped during a look-up at the others is asked of the host', async () => {
    const { asked, first, second } = openTwo()
    await first.get()
    const looking = second.get()
    second.cache.drop('key')
    expect(await looking).toEqual({ status: 'ok', value: 'second 1000000' })
    expect(second.cache.known('key')).toBeNull()
    expect(asked).toEqual(['first', 'second'])
  })
})
