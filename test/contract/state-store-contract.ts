import { expect, onTestFinished, test } from 'vitest'
import type { JsonValue, StateStore } from '#core/ports/state-store.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'
import { BAD_KEYS, BAD_PREFIXES, ORDERED_KEYS } from '#test/support/store-values.ts'

/** What every driver must do. */
export function stateStoreContract({ open }: StoreDriver<StateStore>): void {
  async function openStore(keys: readonly string[] = []): Promise<StateStore> {
    const store = await open(await temporaryFolder())
    onTestFinished(() => store.close())
    for (const key of keys) await store.create(key, key)
    return store
  }

  async function written(write: ReturnType<StateStore['create']>): Promise<string> {
    const outcome = await write
    if (outcome.status !== 'written') throw new Error('the write met a conflict')
    return outcome.etag
  }

  test.each<{ name: string; value: JsonValue }>([
    { name: 'null', value: null },
    { name: 'a boolean', value: true },
    { name: 'zero', value: 0 },
    { name: 'a large number', value: -1.5e300 },
    { name: 'an empty text', value: '' },
    { name: 'a text of control, astral and lone surrogate characters', value: '\u0000 \u{1F600} \ud800 "quoted" \\' },
    { name: 'an empty list', value: [] },
    { name: 'an empty object', value: {} },
    { name: 'a nested object', value: { list: [1, [2, { deep: null }]], '': 'no name', ключ: 'значение' } },
    { name: 'an object with a member __proto__', value: JSON.parse('{"__proto__": {"polluted": true}}') },
    { name: 'a text of two megabytes', value: 'x'.repeat(2_000_000) },
  ])('$name is read as it was written', async ({ value }) => {
    const store = await openStore()
    const etag = await written(store.create('key', value))
    expect(await store.read('key')).toEqual({ value, etag })
    expect(JSON.stringify((await store.read('key'))?.value)).toBe(JSON.stringify(value))
  })

  test('a missing document is null', async () => {
    const store = await openStore(['a/b'])
    for (const key of ['a', 'a/b/c', 'nothing']) expect(await store.read(key)).toBeNull()
  })

  test('a create over a document is a conflict and changes nothing', async () => {
    const store = await openStore()
    const etag = await written(store.create('key', 1))
    expect(await store.create('key', 2)).toEqual({ status: 'conflict' })
    expect(await store.read('key')).toEqual({ value: 1, etag })
  })

  test('a replace takes the version that was read', async () => {
    const store = await openStore()
    const first = await written(store.create('key', 1))
    const second = await written(store.replace('key', 2, first))
    expect(await store.read('key')).toEqual({ value: 2, etag: second })
    expect(second).not.toBe(first)
  })

  test('a replace of an earlier version, of no version, or of a missing document is a conflict', async () => {
    const store = await openStore()
    const first = await written(store.create('key', 1))
    const second = await written(store.replace('key', 2, first))
    const other = await written(store.create('other', 1))
    for (const etag of [first, other, '', 'no such etag']) {
      expect(await store.replace('key', 3, etag)).toEqual({ status: 'conflict' })
    }
    expect(await store.replace('missing', 3, second)).toEqual({ status: 'conflict' })
    expect(await store.read('key')).toEqual({ value: 2, etag: second })
    expect(await store.read('missing')).toBeNull()
  })

  test('no version has the etag of an earlier one, the same value and a removal between included', async () => {
    const store = await openStore()
    const etags: string[] = []
    for (let round = 0; round < 5; round++) {
      let etag = await written(store.create('key', 'same'))
      etags.push(etag)
      for (let turn = 0; turn < 5; turn++) {
        etag = await written(store.replace('key', 'same', etag))
        etags.push(etag)
      }
      await store.remove('key')
      expect(await store.replace('key', 'same', etag)).toEqual({ status: 'conflict' })
    }
    expect(new Set(etags).size).toBe(30)
    await store.create('key', 'same')
    for (const etag of etags) expect(await store.replace('key', 'late', etag)).toEqual({ status: 'conflict' })
  })

  test('of 32 parallel creates one succeeds, and its value stays', async () => {
    const store = await openStore()
    const outcomes = await Promise.all(Array.from({ length: 32 }, (_, index) => store.create('key', index)))
    const winners = outcomes.flatMap((outcome, index) =>
      outcome.status === 'written' ? [{ value: index, etag: outcome.etag }] : [],
    )
    expect(winners).toHaveLength(1)
    expect(await store.read('key')).toEqual(winners[0])
  })

  test('of 32 parallel replaces of one version one succeeds', async () => {
    const store = await openStore()
    const etag = await written(store.create('key', 'first'))
    const outcomes = await Promise.all(Array.from({ length: 32 }, (_, index) => store.replace('key', index, etag)))
    const winners = outcomes.flatMap((outcome, index) =>
      outcome.status === 'written' ? [{ value: index, etag: outcome.etag }] : [],
    )
    expect(winners).toHaveLength(1)
    expect(await store.read('key')).toEqual(winners[0])
  })

  test('16 callers that read, add one and write lose nothing', async () => {
    const store = await openStore()
    await store.create('counter', 0)
    const increment = async () => {
      for (;;) {
        const doc = await store.read('counter')
        const outcome = await store.replace('counter', Number(doc?.value) + 1, doc?.etag ?? '')
        if (outcome.status === 'written') return
      }
    }
    await Promise.all(Array.from({ length: 16 }, increment))
    expect((await store.read('counter'))?.value).toBe(16)
  })

  test("changing the caller's value after a write changes no document", async () => {
    const store = await openStore()
    const value = { list: [1, 2] }
    await store.create('key', value)
    value.list.push(3)
    const read = (await store.read('key'))?.value as typeof value
    expect(read).toEqual({ list: [1, 2] })
    read.list.push(4)
    expect((await store.read('key'))?.value).toEqual({ list: [1, 2] })
  })

  test('a removed document is missing, no other one is; removing a missing one is no error', async () => {
    const store = await openStore(['a', 'a/b', 'a/b/c'])
    await store.remove('a/b')
    await store.remove('a/b')
    await store.remove('nothing')
    expect(await store.read('a/b')).toBeNull()
    expect(await store.list('')).toEqual(['a', 'a/b/c'])
  })

  test('every prefix, start and limit lists what the port defines', async () => {
    const store = await openStore(ORDERED_KEYS.toReversed())
    const starts = [...ORDERED_KEYS, '', 'a/', 'a/b/', 'a/c', 'b', 'b/', 'z', 'ä']
    for (const prefix of [...ORDERED_KEYS, '', 'a/', 'a/b/', 'b', 'b/', 'c', '.']) {
      expect(await store.list(prefix)).toEqual(ORDERED_KEYS.filter(key => key.startsWith(prefix)))
      const lists = async (after: string) => {
        const expected = ORDERED_KEYS.filter(
          key => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0,
        )
        expect(await store.list(prefix, { after }), `${prefix} after ${after}`).toEqual(expected)
        expect(await store.list(prefix, { after, limit: 2 })).toEqual(expected.slice(0, 2))
      }
      await Promise.all(starts.map(lists))
    }
  })

  test('a limit of zero lists nothing, and one that is no number of keys is refused', async () => {
    const store = await openStore(['key'])
    expect(await store.list('', { limit: 0 })).toEqual([])
    for (const limit of [-1, 0.5, Number.NaN]) await expect(store.list('', { limit })).rejects.toThrow(RangeError)
  })

  test.each(BAD_KEYS)('the key %j is refused everywhere', async key => {
    const store = await openStore()
    await expect(store.create(key, 1)).rejects.toThrow(RangeError)
    await expect(store.read(key)).rejects.toThrow(RangeError)
    await expect(store.replace(key, 1, 'etag')).rejects.toThrow(RangeError)
    await expect(store.remove(key)).rejects.toThrow(RangeError)
    expect(await store.list('')).toEqual([])
  })

  test.each(BAD_PREFIXES)('the prefix %j is refused', async prefix => {
    const store = await openStore(['a'])
    await expect(store.list(prefix)).rejects.toThrow(RangeError)
  })
}
