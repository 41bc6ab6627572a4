import fs, { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { StatCache } from '#infra/local/stat-cache.ts'

const folder = mkdtempSync(join(tmpdir(), 'mountglass-cache-'))
const file = join(folder, 'file')
const absent = join(folder, 'absent')
let made = 0

beforeEach(() => {
  made = 0
  writeFileSync(file, 'a')
  vi.useFakeTimers({ toFake: ['Date'] })
  atAgeMs(1_000_000)
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(absent, { force: true })
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Sets the clock so long after the last change of the file. */
function atAgeMs(age: number): void {
  vi.setSystemTime(Math.floor(statSync(file).ctimeMs) + age)
}

const ask = (cache: StatCache<number>, key = 'key', keep = true) =>
  cache.get(key, async watch => {
    watch(folder)
    watch(file)
    watch(absent)
    return { value: ++made, keep }
  })

test('a value that is not cached, or not current, is not computed when only the cached one is asked for', async () => {
  const cache = new StatCache<number>()
  expect(cache.cached('key')).toBeNull()
  await ask(cache)
  expect(cache.cached('key')?.value).toBe(1)
  writeFileSync(file, 'bb')
  expect(cache.cached('key')).toBeNull()
  expect(made).toBe(1)
})

test('a value is not cached either if the machine stood still between reading the file and the clock', async () => {
  const cache = new StatCache<number>()
  const { lstatSync } = fs
  atAgeMs(0)
  const look = vi.spyOn(fs, 'lstatSync').mockImplementation(((...asked: Parameters<typeof lstatSync>) => {
    const found = lstatSync(...asked)
    atAgeMs(10_000)
    return found
  }) as typeof lstatSync)
  onTestFinished(() => {
    look.mockRestore()
    syncBuiltinESMExports()
  })
  syncBuiltinESMExports()
  const asked = () =>
    cache.get('key', async watch => {
      watch(file)
      return { value: ++made, keep: true }
    })
  expect([await asked(), await asked()]).toEqual([1, 2])
})

test('a value that is marked as uncacheable is not cached', async () => {
  const cache = new StatCache<number>()
  expect([await ask(cache, 'key', false), await ask(cache, 'key', false)]).toEqual([1, 2])
})

test('an error reaches its caller, is not cached, and does not reach later callers', async () => {
  const cache = new StatCache<number>()
  const failing = cache.get('key', async () => {
    throw new Error('no disk')
  })
  const later = ask(cache)
  await expect(failing).rejects.toThrow('no disk')
  expect(await later).toBe(1)
})

test('the least recently used value is evicted first', async () => {
  const one = new StatCache<number>()
  await ask(one, 'a')
  made = 0
  const cache = new StatCache<number>(2 * one.sizeBytes)
  await ask(cache, 'a')
  await ask(cache, 'b')
  await ask(cache, 'a')
  await ask(cache, 'c')
  expect([await ask(cache, 'a'), await ask(cache, 'c'), await ask(cache, 'b')]).toEqual([1, 3, 4])
})

test('21,000 long keys take no more memory than short ones: values are kept by their bytes', async () => {
  const maxBytes = 4 * 1024 * 1024
  const cache = new StatCache<number>(maxBytes)
  const key = (number: number) => `${number}`.padEnd(2_000, 'x')
  for (let number = 0; number < 21_000; number++) {
    await cache.get(key(number), async watch => {
      watch(join(folder, key(number)))
      return { value: number, keep: true }
    })
  }
  expect(cache.sizeBytes).toBeLessThanOrEqual(maxBytes)
  // What the kept keys and paths take at least: a byte a character.
  expect(cache.sizeBytes).toBeGreaterThan(maxBytes / 2)
  let computed = 0
  for (let number = 21_000 - maxBytes / 4_000; number < 21_000; number++) {
    await cache.get(key(number), async () => ({ value: computed++, keep: false }))
  }
  expect(computed).toBeGreaterThan(0)
})

test('missing names evict no value, and take few bytes, for any number and length of them', async () => {
  const cache = new StatCache<number | null>()
  let computed = 0
  const get = (key: string, value: number | null) =>
    cache.get(key, async watch => {
      watch(join(folder, key))
      computed++
      return { value, keep: true }
    })
  await get('known', 1)
  const before = cache.sizeBytes
  const name = (number: number) => `${number}-`.padEnd(2_000, 'x')
  for (let number = 0; number < 21_000; number++) await get(name(number), null)
  expect(cache.sizeBytes - before).toBeLessThanOrEqual(4 * 1024 * 1024)
  computed = 0
  expect([await get('known', 2), await get(name(20_999), 2)]).toEqual([1, null])
  expect(computed).toBe(0)
})

test('a missing name that gets a value has it, and one whose value is removed is missing', async () => {
  const cache = new StatCache<number | null>()
  const get = (value: number | null) =>
    cache.get('key', async watch => {
      watch(absent)
      return { value, keep: true }
    })
  expect([await get(null), await get(1)]).toEqual([null, null])
  writeFileSync(absent, '')
  expect([await get(1), await get(null)]).toEqual([1, 1])
  rmSync(absent)
  expect([await get(null), await get(1)]).toEqual([null, null])
})
