import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { StateStore } from '#core/ports/state-store.ts'
import { QUEUE_PREFIX } from '#core/snapshot/store-keys.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { IMPATIENT_MS } from '#test/support/patient.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'
import { startStoreProcess } from '#test/support/store-process.ts'
import { testApp } from '#test/support/test-app.ts'
import { until } from '#test/support/until.ts'

/** A store whose file another process can lock. */
async function openLockable(patienceMs = 60_000) {
  const folder = await temporaryFolder()
  const file = join(folder, 'documents.sqlite')
  const states = await openDiskStateStore(file, { patienceMs })
  onTestFinished(() => states.close())
  return {
    states,
    /** Another process holds the lock of writers, until the returned function is called. */
    async lock(): Promise<() => Promise<void>> {
      const end = join(folder, 'end')
      const holder = startStoreProcess('hold', [file, end])
      await until(async () => holder.lines.includes('held'))
      return async () => {
        await writeFile(end, '')
        expect(await holder.ended).toEqual({ code: 0, signal: null, errors: '' })
      }
    },
  }
}

test('a request that waits for the lock of another process holds up no other request', async () => {
  const { states, lock } = await openLockable()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const create: StateStore['create'] = (key, value) => {
    if (key.startsWith(QUEUE_PREFIX) && isLocked) begin()
    return states.create(key, value)
  }
  let isLocked = false
  const contents = { 'acme/ready': { 'a.md': '# A\n' }, 'acme/new': { 'a.md': '# A\n' } }
  const app = await testApp(contents, { states: { ...states, create } })
  onTestFinished(() => app.close())
  const origin = await app.app.listen({ host: '127.0.0.1', port: 0 })
  await app.open('/local/acme/ready')
  const unlock = await lock()
  isLocked = true

  // Offers a job, which is a write.
  const waiting = fetch(`${origin}/api/v1/mounts/local/acme/new`)
  let isAnswered = false
  void waiting.then(() => {
    isAnswered = true
  })
  await begun
  for (const path of ['/healthz', '/api/v1/mounts/local/acme/ready', '/api/v1/browse/local/acme/ready']) {
    expect([path, (await fetch(`${origin}${path}`)).status]).toEqual([path, 200])
  }
  // The store takes no writes, and says so without waiting for the lock.
  expect((await fetch(`${origin}/readyz`)).status).toBe(503)
  expect(isAnswered).toBe(false)

  await unlock()
  const answer = await waiting
  expect([answer.status, ((await answer.json()) as { index: unknown }).index]).toEqual([200, { status: 'indexing' }])
})

const WRITES: [string, (states: StateStore, etag: string) => Promise<unknown>][] = [
  ['create', states => states.create('new', 1)],
  ['replace', (states, etag) => states.replace('old', 2, etag)],
  ['remove', states => states.remove('old')],
]

test.each(WRITES)('%s waits for the lock of another process and then writes', async (_, write) => {
  const { states, lock } = await openLockable()
  const { etag } = (await states.create('old', 1)) as { etag: string }
  const unlock = await lock()
  const before = await states.list('')
  const written = write(states, etag)
  expect([before, (await states.read('old'))?.value]).toEqual([['old'], 1])
  await unlock()
  await written
  expect([await states.list(''), (await states.read('old'))?.value]).not.toEqual([['old'], 1])
})

test('a write gives up after the patience of its store, and succeeds once the lock is free', async () => {
  const { states, lock } = await openLockable(IMPATIENT_MS)
  const unlock = await lock()
  await expect(states.create('a', 1)).rejects.toThrow('database is locked')
  await unlock()
  expect((await states.create('a', 1)).status).toBe('written')
})

test('a store that closes ends its waiting writes', async () => {
  const { states, lock } = await openLockable()
  const unlock = await lock()
  const ended = expect(states.create('a', 1)).rejects.toThrow('the store is closed')
  await states.close()
  await ended
  await unlock()
})
