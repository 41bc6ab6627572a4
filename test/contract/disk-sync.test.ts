import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'

async function openStates() {
  const states = await openDiskStateStore(join(await temporaryFolder(), 'documents.sqlite'))
  onTestFinished(() => states.close())
  return states
}

/** Whether a promise resolves before the event loop has a turn. */
async function isSettledAtOnce(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  void promise.then(() => {
    isSettled = true
  })
  for (let tick = 0; tick < 100; tick++) await Promise.resolve()
  return isSettled
}

test('a write waits for the disk beside the event loop; what changed nothing waits for nothing', async () => {
  const states = await openStates()
  const created = states.create('a', 1)
  expect(await isSettledAtOnce(created)).toBe(false)
  expect(await states.read('a'), 'it is there before it is durable').toMatchObject({ value: 1 })
  const { etag } = (await created) as { etag: string }
  expect(await isSettledAtOnce(states.create('a', 2))).toBe(true)
  const replaced = states.replace('a', 2, etag)
  expect(await isSettledAtOnce(replaced)).toBe(false)
  expect((await replaced).status).toBe('written')
  const removed = states.remove('a')
  expect(await isSettledAtOnce(removed)).toBe(false)
  await removed
})

test('a write that changes nothing waits until what it saw is durable', async () => {
  const states = await openStates()
  await states.create('a', 1)
  const removed = states.remove('a')
  const again = states.remove('a')
  expect(await isSettledAtOnce(again)).toBe(false)
  await Promise.all([removed, again])
  const created = states.create('b', 1)
  const refused = states.create('b', 2)
  expect(await isSettledAtOnce(refused)).toBe(false)
  expect((await Promise.all([created, refused])).map(({ status }) => status)).toEqual(['written', 'conflict'])
})

test('a store that closes meanwhile keeps what was being written', async () => {
  const file = join(await temporaryFolder(), 'documents.sqlite')
  const states = await openDiskStateStore(file)
  const writes = Array.from({ length: 20 }, (_, number) => states.create(`key/${number}`, number))
  await states.close()
  expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 'written'))
  const again = await openDiskStateStore(file)
  expect(await again.list('key/')).toHaveLength(20)
  await again.close()
})
