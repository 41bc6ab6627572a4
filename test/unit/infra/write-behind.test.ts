import { expect, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { createWriteBehindStore } from '#infra/write-behind.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const never = new AbortController().signal

async function filled(behind: BlobStore) {
  const store = createWriteBehindStore(behind, systemClock)
  await behind.create('kept', bytes('kept'))
  for (const key of ['b', 'a', 'header']) await store.create(key, bytes(key))
  return store
}

test('new objects reach the store behind with a flush, in the order of their creation', async () => {
  const behind = createMemoryBlobStore(systemClock)
  const created: string[] = []
  const store = await filled({
    ...behind,
    create(key, content) {
      created.push(key)
      return behind.create(key, content)
    },
  })
  expect(await behind.list('')).toEqual(['kept'])
  expect(await store.list('')).toEqual(['a', 'b', 'header', 'kept'])
  expect(await store.flush(never)).toBe(true)
  expect(created).toEqual(['kept', 'b', 'a', 'header'])
  expect(await store.flush(never)).toBe(false)
  expect(await store.list('')).toEqual(['a', 'b', 'header', 'kept'])
})

test('a flush that fails or is interrupted removes what it wrote, and nothing else', async () => {
  const behind = createMemoryBlobStore(systemClock)
  const full = await filled({
    ...behind,
    create: async (key, content) => {
      if (key === 'header') throw new Error('no space left')
      return behind.create(key, content)
    },
  })
  await expect(full.flush(never)).rejects.toThrow('no space left')
  expect(await behind.list('')).toEqual(['kept'])
  const stop = new AbortController()
  const stopped = await filled({
    ...behind,
    create(key, content) {
      if (key === 'a') stop.abort(new Error('stop'))
      return behind.create(key, content)
    },
  })
  await expect(stopped.flush(stop.signal)).rejects.toThrow('stop')
  expect(await behind.list('')).toEqual(['kept'])
})
