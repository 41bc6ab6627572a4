import { describe, expect, test } from 'vitest'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { splitBlobs, splitStates } from '#infra/stores.ts'
import { systemClock } from '#infra/system/system.ts'

const KEYS = [
  'ctl/job/prv/0a1/one/a',
  'ctl/job/pub/0a1/one/a',
  'ctl/owner/0a1/r1/prv',
  'ctl/prv',
  'ctl/queue/prv/0a1/one/a',
  'ctl/queue/pub/0a1/one/a',
  'ctl/queue/pub/0a1/two/a',
  'probe/prv/a',
  'prv/0a1/one/c/a',
  'prv/0a1/one/p/a',
  'prvx/a',
  'pub/0a1/one/c/a',
  'pub/prv/one/p/a',
]
const PRIVATE = KEYS.filter(key => /^(ctl\/[a-z]+\/)?prv\//.test(key))

describe('stores that separate private data', () => {
  test('objects and documents lie in one of two stores, by the class in their keys', async () => {
    const [others, ofPrivate] = [createMemoryBlobStore(systemClock), createMemoryBlobStore(systemClock)]
    const blobs = splitBlobs(others, ofPrivate)
    for (const key of KEYS) expect(await blobs.create(key, Buffer.from(key))).toBe('created')
    expect(await ofPrivate.list('')).toEqual(PRIVATE)
    expect(await others.list('')).toEqual(KEYS.filter(key => !PRIVATE.includes(key)))
    for (const key of KEYS) {
      expect(Buffer.from((await blobs.read(key))?.bytes ?? []).toString()).toBe(key)
      expect(Buffer.from((await blobs.readRange(key, 1, 3)) ?? []).toString()).toBe(key.slice(1, 4))
      expect(await blobs.create(key, Buffer.from('other'))).toBe('exists')
      await blobs.remove(key)
    }
    expect([...(await others.list('')), ...(await ofPrivate.list(''))]).toEqual([])
  })

  test('of entries too, each with the versions of its own store', async () => {
    const [others, ofPrivate] = [createMemoryStateStore(), createMemoryStateStore()]
    const states = splitStates(others, ofPrivate)
    for (const key of KEYS) {
      const created = await states.create(key, 1)
      if (created.status !== 'written') throw new Error(created.status)
      expect(await states.replace(key, 2, created.etag)).toMatchObject({ status: 'written' })
      expect(await states.replace(key, 3, created.etag)).toEqual({ status: 'conflict' })
      expect(await states.read(key)).toMatchObject({ value: 2 })
    }
    expect(await ofPrivate.list('')).toEqual(PRIVATE)
    for (const key of KEYS) await states.remove(key)
    expect([...(await others.list('')), ...(await ofPrivate.list(''))]).toEqual([])
  })

  test('a listing of any prefix, start and limit is that of one store', async () => {
    const [blobs, states] = [
      splitBlobs(createMemoryBlobStore(systemClock), createMemoryBlobStore(systemClock)),
      splitStates(createMemoryStateStore(), createMemoryStateStore()),
    ]
    const [allBlobs, allStates] = [createMemoryBlobStore(systemClock), createMemoryStateStore()]
    for (const key of KEYS) {
      for (const store of [blobs, allBlobs]) await store.create(key, Buffer.from(key))
      for (const store of [states, allStates]) await store.create(key, key)
    }
    const prefixes = new Set(KEYS.flatMap(key => Array.from({ length: key.length + 1 }, (_, end) => key.slice(0, end))))
    for (const prefix of prefixes) {
      for (const after of [undefined, '', 'ctl/queue/prv/0a1/one/a', 'prv/', 'prv/0a1/one/c/a', 'z']) {
        for (const limit of [undefined, 0, 1, 3]) {
          const options = { ...(after === undefined ? {} : { after }), ...(limit === undefined ? {} : { limit }) }
          const what = JSON.stringify([prefix, options])
          expect(await blobs.list(prefix, options), what).toEqual(await allBlobs.list(prefix, options))
          expect(await states.list(prefix, options), what).toEqual(await allStates.list(prefix, options))
        }
      }
    }
  })

  test('pass on a refusal of either store', async () => {
    const blobs = splitBlobs(createMemoryBlobStore(systemClock), createMemoryBlobStore(systemClock))
    for (const key of ['', '/', 'prv/', 'prv//a', 'ctl//prv/a', 'ctl/job/prv/../pub/a']) {
      await expect(blobs.create(key, Buffer.of())).rejects.toThrow(RangeError)
      await expect(blobs.read(key)).rejects.toThrow(RangeError)
      await expect(blobs.remove(key)).rejects.toThrow(RangeError)
    }
    await expect(blobs.list('a', { limit: -1 })).rejects.toThrow(RangeError)
  })
})
