import { expect, onTestFinished, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { KEY_BYTES } from '#core/ports/store-arguments.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'
import { BAD_KEYS, BAD_PREFIXES, bytesOf, ORDERED_KEYS } from '#test/support/store-values.ts'

const text = (content: string) => new TextEncoder().encode(content)
const asText = (bytes: Uint8Array | null | undefined) => (bytes ? new TextDecoder().decode(bytes) : null)

/** What every driver must do. */
export function blobStoreContract({ open }: StoreDriver<BlobStore>): void {
  async function openStore(keys: readonly string[] = []): Promise<BlobStore> {
    const store = await open(await temporaryFolder())
    onTestFinished(() => store.close())
    for (const key of keys) await store.create(key, text(key))
    return store
  }

  test('an object is read as it was written, with the time of the write', async () => {
    const store = await openStore()
    const before = Date.now()
    expect(await store.create('pub/0a1/gh-1/p/one', Uint8Array.of(0, 255, 10, 13))).toBe('created')
    const object = await store.read('pub/0a1/gh-1/p/one')
    expect([...(object?.bytes ?? [])]).toEqual([0, 255, 10, 13])
    // A file system may keep coarser instants than the clock.
    expect(object?.createdAt.getTime()).toBeGreaterThanOrEqual(before - 2_000)
    expect(object?.createdAt.getTime()).toBeLessThanOrEqual(Date.now() + 2_000)
  })

  test('an empty object is an object', async () => {
    const store = await openStore()
    expect(await store.create('empty', new Uint8Array())).toBe('created')
    expect((await store.read('empty'))?.bytes).toHaveLength(0)
    expect(await store.readRange('empty', 0, 10)).toHaveLength(0)
    expect(await store.create('empty', text('more'))).toBe('exists')
  })

  test('an object of several megabytes comes back whole', async () => {
    const store = await openStore()
    const bytes = Buffer.alloc(9_000_001, bytesOf('large'))
    await store.create('large', bytes)
    expect(bytes.equals((await store.read('large'))?.bytes ?? new Uint8Array())).toBe(true)
    expect(bytes.subarray(8_999_000).equals((await store.readRange('large', 8_999_000, 5_000)) ?? new Uint8Array())).toBe(true)
  })

  test('a second create has no effect and returns that the object exists', async () => {
    const store = await openStore()
    await store.create('a/b', text('first'))
    expect(await store.create('a/b', text('second'))).toBe('exists')
    expect(asText((await store.read('a/b'))?.bytes)).toBe('first')
  })

  test('of 32 parallel creates one succeeds, and its bytes stay', async () => {
    const store = await openStore()
    const names = Array.from({ length: 32 }, (_, index) => `writer-${index}`)
    const outcomes = await Promise.all(names.map(name => store.create('new/folder/key', bytesOf(name))))
    expect(outcomes.filter(outcome => outcome === 'created')).toHaveLength(1)
    const winner = names[outcomes.indexOf('created')] ?? ''
    expect(Buffer.from(bytesOf(winner)).equals((await store.read('new/folder/key'))?.bytes ?? new Uint8Array())).toBe(true)
  })

  test("changing the caller's bytes after a write changes no object", async () => {
    const store = await openStore()
    const bytes = text('as written')
    await store.create('key', bytes)
    bytes.fill(0)
    const read = await store.read('key')
    expect(asText(read?.bytes)).toBe('as written')
    read?.bytes.fill(0)
    read?.createdAt.setTime(0)
    const range = await store.readRange('key', 0, 100)
    expect(asText(range)).toBe('as written')
    range?.fill(0)
    const again = await store.read('key')
    expect(asText(again?.bytes)).toBe('as written')
    expect(again?.createdAt.getTime()).toBeGreaterThan(0)
  })

  test('a missing object is null, whole or in part', async () => {
    const store = await openStore(['a/b/c'])
    for (const key of ['a', 'a/b', 'a/b/c/d', 'nothing']) {
      expect(await store.read(key)).toBeNull()
      expect(await store.readRange(key, 0, 1)).toBeNull()
    }
  })

  test.each([
    [0, 4, '0123'],
    [3, 4, '3456'],
    [9, 1, '9'],
    [0, 10, '0123456789'],
    [0, 11, '0123456789'],
    [8, 100, '89'],
    [8, Number.MAX_SAFE_INTEGER, '89'],
    [10, 1, ''],
    [11, 5, ''],
    [Number.MAX_SAFE_INTEGER, 5, ''],
    [4, 0, ''],
    [0, 0, ''],
  ])('the range from %i of %i bytes is %j', async (offset, length, expected) => {
    const store = await openStore()
    await store.create('digits', text('0123456789'))
    expect(asText(await store.readRange('digits', offset, length))).toBe(expected)
  })

  test('a range that is no range is refused', async () => {
    const store = await openStore(['key'])
    for (const [offset, length] of [
      [-1, 2],
      [0, -1],
      [0.5, 1],
      [0, Number.NaN],
      [0, Number.POSITIVE_INFINITY],
    ] as const) {
      await expect(store.readRange('key', offset, length)).rejects.toThrow(RangeError)
    }
  })

  test('keys are listed in byte order, those that begin others too', async () => {
    const store = await openStore(ORDERED_KEYS.toReversed())
    expect(await store.list('')).toEqual(ORDERED_KEYS)
  })

  test('every prefix, start and limit lists what the port defines', async () => {
    const store = await openStore(ORDERED_KEYS)
    const starts = [
      ...ORDERED_KEYS,
      '',
      'a/',
      'a/b/',
      'a/b/c/',
      'a/a',
      'a/c',
      'a-',
      'b',
      'b/',
      'b/aa',
      'c',
      'z',
      'a/b/c/d/e',
      'ä',
    ]
    const prefixes = [...ORDERED_KEYS, '', 'a/', 'a/b/', 'a/b/c/', 'b', 'b/', 'c', 'c/', 'a/b/c/d/e', 'b/x', '.']
    for (const prefix of prefixes) {
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

  test('pages of any size, joined, are the whole listing', async () => {
    const store = await openStore(ORDERED_KEYS)
    for (let limit = 1; limit <= ORDERED_KEYS.length + 1; limit++) {
      const joined: string[] = []
      for (;;) {
        const page = await store.list('a', { limit, ...(joined.length > 0 ? { after: joined.at(-1) ?? '' } : {}) })
        if (page.length === 0) break
        expect(page.length).toBeLessThanOrEqual(limit)
        joined.push(...page)
      }
      expect(joined).toEqual(ORDERED_KEYS.filter(key => key.startsWith('a')))
    }
  })

  test('a limit of zero lists nothing, and one that is no number of keys is refused', async () => {
    const store = await openStore(['key'])
    expect(await store.list('', { limit: 0 })).toEqual([])
    for (const limit of [-1, 0.5, Number.NaN]) await expect(store.list('', { limit })).rejects.toThrow(RangeError)
  })

  test('a removed object is missing, no other one is, and its key is free again', async () => {
    const store = await openStore(['a', 'a/b', 'a/b/c', 'a/bb'])
    await store.remove('a/b')
    expect(await store.read('a/b')).toBeNull()
    expect(await store.list('')).toEqual(['a', 'a/b/c', 'a/bb'])
    expect(await store.create('a/b', text('anew'))).toBe('created')
    expect(asText((await store.read('a/b'))?.bytes)).toBe('anew')
  })

  test('removing a missing object is no error', async () => {
    const store = await openStore(['a/b'])
    await store.remove('nothing')
    await store.remove('no/such/folder')
    await store.remove('a')
    expect(await store.list('')).toEqual(['a/b'])
  })

  test.each(BAD_KEYS)('the key %j is refused everywhere', async key => {
    const store = await openStore()
    await expect(store.create(key, text('x'))).rejects.toThrow(RangeError)
    await expect(store.read(key)).rejects.toThrow(RangeError)
    await expect(store.readRange(key, 0, 1)).rejects.toThrow(RangeError)
    await expect(store.remove(key)).rejects.toThrow(RangeError)
    expect(await store.list('')).toEqual([])
  })

  test.each(BAD_PREFIXES)('the prefix %j is refused', async prefix => {
    const store = await openStore(['a'])
    await expect(store.list(prefix)).rejects.toThrow(RangeError)
  })

  test('the longest key and the longest segment are keys', async () => {
    const store = await openStore()
    for (const key of [
      'x'.repeat(254),
      `${'x/'.repeat(KEY_BYTES / 2 - 1)}xx`,
      `${'y'.repeat(254)}/${'z'.repeat(254)}`,
      '.hidden',
      '..a',
      '-',
    ]) {
      expect(await store.create(key, text(key))).toBe('created')
      expect(asText((await store.read(key))?.bytes)).toBe(key)
      expect(await store.list(key)).toEqual([key])
    }
  })
}
