import { describe, expect, test } from 'vitest'
import { createLimit, GateFull } from '#core/concurrency/fair-gate.ts'
import { forEachOf, mapFew } from '#core/concurrency/map-few.ts'
import { createSingleFlight } from '#core/concurrency/single-flight.ts'
import { closeAndThrow, withTimeout } from '#core/concurrency/timeout.ts'

const never = new Promise<never>(() => {})

test.each<[what: string, close: () => Promise<void>]>([
  ['succeeds', async () => {}],
  ['fails', async () => Promise.reject(new Error('the pool is closed'))],
  [
    'throws',
    () => {
      throw new Error('the pool is closed')
    },
  ],
  ['never ends', () => never],
])('the error that ends a start is thrown even if the close after it %s', async (_, close) => {
  await expect(closeAndThrow(new Error('no bucket'), close, 1)).rejects.toThrow('no bucket')
})

describe('a timeout', () => {
  test('answers as the work does when that settles first', async () => {
    expect(await withTimeout(Promise.resolve('done'), 60_000, () => 'late')).toBe('done')
    await expect(withTimeout(Promise.reject(new Error('broken')), 60_000, () => 'late')).rejects.toThrow('broken')
  })

  test('gives the fallback after the time, a thrown one too', async () => {
    expect(await withTimeout(never, 1, () => 'late')).toBe('late')
    const fail = () => {
      throw new Error('too late')
    }
    await expect(withTimeout(never, 1, fail)).rejects.toThrow('too late')
  })

  test('drops a failure after the time', async () => {
    const { promise, reject } = Promise.withResolvers<never>()
    expect(await withTimeout(promise, 1, () => 'late')).toBe('late')
    reject(new Error('nobody waits for this any more'))
    await expect(promise).rejects.toThrow()
  })
})

describe('a single flight', () => {
  test('runs work once for calls side by side, and again for a later one', async () => {
    const flights = createSingleFlight<number>()
    let runs = 0
    const work = async () => ++runs
    expect(await Promise.all([flights.run('a', work), flights.run('a', work), flights.run('b', work)])).toEqual([1, 1, 2])
    expect(await flights.run('a', work)).toBe(3)
  })

  test('caches no failure, synchronous or not', async () => {
    const flights = createSingleFlight<string>()
    const atOnce = () => {
      throw new Error('at once')
    }
    await expect(flights.run('a', atOnce)).rejects.toThrow('at once')
    await expect(flights.run('a', () => Promise.reject(new Error('later')))).rejects.toThrow('later')
    expect(await flights.run('a', async () => 'fine')).toBe('fine')
  })

  test('that is forgotten answers its waiters, is marked as forgotten, and is not shared any more', async () => {
    const flights = createSingleFlight<string>()
    const { promise, resolve } = Promise.withResolvers<string>()
    let wasForgotten: boolean | undefined
    const first = flights.run('a', async isForgotten => {
      const value = await promise
      wasForgotten = isForgotten()
      return value
    })
    flights.forget('a')
    expect(await flights.run('a', async isForgotten => `new, ${isForgotten()}`)).toBe('new, false')
    resolve('old')
    expect([await first, wasForgotten]).toEqual(['old', true])
  })
})

describe('bounded work', () => {
  test('a limit lets a number of tasks run, has some wait, and refuses the rest', async () => {
    const limit = createLimit(1, 1)
    const { promise, resolve } = Promise.withResolvers<string>()
    const first = limit(() => promise)
    const second = limit(async () => 'second')
    await expect(limit(async () => 'third')).rejects.toThrow(GateFull)
    resolve('first')
    expect(await Promise.all([first, second])).toEqual(['first', 'second'])
  })

  test('mapping a few at a time keeps the order', async () => {
    expect(await mapFew([1, 2, 3, 4, 5, 6], async number => number * 2)).toEqual([2, 4, 6, 8, 10, 12])
  })

  test('the first failure ends a walk after the running tasks', async () => {
    const seen: number[] = []
    async function* numbers() {
      for (let number = 0; number < 100; number++) yield number
    }
    const walk = forEachOf(numbers(), 2, async number => {
      seen.push(number)
      if (number === 3) throw new Error('three')
    })
    await expect(walk).rejects.toThrow('three')
    expect(seen.length).toBeLessThan(10)
  })

  test('a failure while the walk waits for the next item starts no other', async () => {
    const started: number[] = []
    const { promise, reject } = Promise.withResolvers<never>()
    async function* numbers() {
      yield 1
      reject(new Error('one'))
      await promise.catch(() => {})
      yield 2
    }
    const walk = forEachOf(numbers(), 5, async number => {
      started.push(number)
      if (number === 1) await promise
    })
    await expect(walk).rejects.toThrow('one')
    expect(started).toEqual([1])
  })

  test('if the items end with an error, it is thrown after the running tasks ended', async () => {
    const ended: number[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    async function* numbers() {
      yield 1
      setImmediate(resolve)
      throw new Error('no more')
    }
    const walk = forEachOf(numbers(), 5, async number => {
      await promise
      ended.push(number)
    })
    await expect(walk).rejects.toThrow('no more')
    expect(ended).toEqual([1])
  })
})
