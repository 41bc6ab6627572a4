import { expect, test } from 'vitest'
import { AnswerCache, type CachedAnswer } from '#infra/github/answer-cache.ts'

const TIMES = { freshSeconds: 60, staleSeconds: 600 }

/** A cache whose questions are written down. Keys that begin with `none` stand for nothing. */
function openCache(sizeOf?: (value: string) => number) {
  const clock = { at: 0, now: () => new Date(clock.at) }
  const cache = new AnswerCache<string>({ capacity: 10, patienceMs: 1_000, clock, ...(sizeOf ? { sizeOf } : {}) })
  const asked: string[] = []
  const get = (key: string, value = key) =>
    cache.get(key, TIMES, async (): Promise<CachedAnswer<string>> => {
      asked.push(key)
      return key.startsWith('none') ? { status: 'missing' } : { status: 'ok', value }
    })
  return { cache, clock, asked, get }
}

test('names for nothing drive out names for nothing, by their bytes, and no value', async () => {
  const { asked, get } = openCache()
  await get('known')
  const long = (index: number) => `none-${index}-`.padEnd(10_000, 'x')
  for (let index = 0; index < 1_000; index++) await get(long(index))
  asked.length = 0
  expect(await get('known')).toEqual({ status: 'ok', value: 'known' })
  for (let index = 900; index < 1_000; index++) expect(await get(long(index))).toEqual({ status: 'missing' })
  expect(asked).toEqual([])
  await get(long(0))
  expect(asked).toEqual([long(0)])

  for (let index = 0; index < 1_000; index++) await get(`none-${index}`)
  asked.length = 0
  await get('none-0')
  expect(asked, 'short names are many').toEqual([])
})

test('what is large takes the room of many, and what is too large is not kept', async () => {
  const { asked, get } = openCache(value => value.length)
  for (const value of ['four', 'five!', 'x'.repeat(11)]) await get(value)
  asked.length = 0
  for (const value of ['four', 'five!', 'x'.repeat(11)]) await get(value)
  expect(asked).toEqual(['x'.repeat(11)])
  await get('seven!!')
  asked.length = 0
  for (const value of ['seven!!', 'four']) await get(value)
  expect(asked).toEqual(['four'])
})

test('a value that is gone is missing, and one that came is there', async () => {
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
