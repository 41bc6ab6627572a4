import { expect, test } from 'vitest'
import { publishContent } from '#api/operator/published.ts'
import { validateFolder } from '#api/operator/read-folder.ts'
import { UNUSED_PACK_HOURS } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { OPERATOR_BLOBS_PREFIX, OPERATOR_KEY, OPERATOR_UNUSED_KEY } from '#core/snapshot/store-keys.ts'
import { sweepOperatorBlobs } from '#indexer/sweep/operator-blobs.ts'
import { emptyTally } from '#indexer/sweep/sweep-tally.ts'
import { createMemoryBlobStore, createMemoryStateStore } from '#infra/memory-stores.ts'
import { folderOf } from '#test/support/operator-folder.ts'
import { plainPicture } from '#test/support/pictures.ts'
import { handClock } from '#test/support/store-values.ts'

const FEATURED = '- address: /local/acme/a\n  image: cover.png\n'
const OLD = { 'featured.yaml': FEATURED, 'cover.png': await plainPicture('png', 9, 9) }
const NEW = { 'featured.yaml': FEATURED, 'cover.png': await plainPicture('png', 8, 8) }

function openStores() {
  const clock = handClock()
  const stores = { blobs: createMemoryBlobStore(clock), states: createMemoryStateStore() }
  const keys = () => stores.blobs.list(OPERATOR_BLOBS_PREFIX)
  const sweep = async (remove = true, blobs: BlobStore = stores.blobs) => {
    const tally = emptyTally()
    await sweepOperatorBlobs({ ...stores, blobs }, clock.now(), { remove, signal: new AbortController().signal }, tally)
    const { published, waitingPublished, bytes } = tally
    return { published, waitingPublished, bytes }
  }
  const publish = async (files: typeof OLD) => {
    const read = await validateFolder(await folderOf(files))
    if ('faults' in read) throw new Error(read.faults.join('\n'))
    return await publishContent(stores, read, false)
  }
  const nextDay = () => clock.advance(UNUSED_PACK_HOURS * 3_600)
  return { ...stores, keys, sweep, publish, nextDay }
}

const NOTHING = { published: 0, waitingPublished: 0, bytes: 0 }

test('content of an earlier publication is removed a day after a sweep found it, and published content stays', async () => {
  const at = openStores()
  await at.publish(OLD)
  const old = await at.keys()
  await at.publish(NEW)
  const named = (await at.keys()).filter(key => !old.includes(key))
  expect([old.length, named.length]).toEqual([2, 2])
  expect(await at.sweep(false)).toEqual({ ...NOTHING, waitingPublished: 2 })
  expect(await at.states.read(OPERATOR_UNUSED_KEY)).toBeNull()
  expect(await at.sweep()).toEqual({ ...NOTHING, waitingPublished: 2 })
  expect(await at.sweep()).toEqual({ ...NOTHING, waitingPublished: 2 })
  at.nextDay()
  const told = await at.sweep(false)
  expect(told).toEqual({ published: 2, waitingPublished: 0, bytes: expect.any(Number) })
  expect(await at.sweep()).toEqual(told)
  expect(await at.keys()).toEqual(named)
  expect(await at.states.read(OPERATOR_UNUSED_KEY)).toBeNull()
  expect(await at.sweep()).toEqual(NOTHING)
})

test('content that is published again meanwhile stays', async () => {
  const at = openStores()
  await at.publish(OLD)
  await at.publish(NEW)
  await at.sweep()
  await at.publish(OLD)
  at.nextDay()
  expect(await at.sweep()).toEqual({ ...NOTHING, waitingPublished: 2 })
  expect(await at.publish(OLD)).toEqual({ uploads: [], changes: [] })
})

test('content that is published during its removal exists afterwards, in either order', async () => {
  for (const moment of ['before', 'after'] as const) {
    const at = openStores()
    await at.publish(OLD)
    await at.publish(NEW)
    await at.sweep()
    at.nextDay()
    let isPublished = false
    const remove = async (key: string) => {
      if (moment === 'after') await at.blobs.remove(key)
      if (!isPublished) {
        isPublished = true
        await at.publish(OLD)
      }
      if (moment === 'before') await at.blobs.remove(key)
    }
    await at.sweep(true, { ...at.blobs, remove })
    expect(isPublished).toBe(true)
    expect(await at.publish(OLD), moment).toEqual({ uploads: [], changes: [] })
  }
})

test('everything stays while the publication cannot be read', async () => {
  const at = openStores()
  await at.publish(OLD)
  await at.publish(NEW)
  await at.sweep()
  at.nextDay()
  const entry = await at.states.read(OPERATOR_KEY)
  await at.states.replace(OPERATOR_KEY, { content: 'f'.repeat(64) }, entry?.etag ?? '')
  expect(await at.sweep()).toEqual(NOTHING)
  const damaged = await at.states.read(OPERATOR_KEY)
  await at.states.replace(OPERATOR_KEY, { nothing: true }, damaged?.etag ?? '')
  expect(await at.sweep()).toEqual(NOTHING)
  expect(await at.keys()).toHaveLength(4)
})

test('media that were removed by hand are uploaded when the same is published again', async () => {
  const at = openStores()
  await at.publish(OLD)
  const before = await at.keys()
  for (const key of before.filter(key => key.endsWith('.png'))) await at.blobs.remove(key)
  expect(await at.publish(OLD)).toMatchObject({ uploads: [{ sizeBytes: OLD['cover.png'].length }], changes: [] })
  expect(await at.keys()).toEqual(before)
})
