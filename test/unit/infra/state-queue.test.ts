import { expect, test } from 'vitest'
import { LEASE_SECONDS } from '#core/limits.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { SILENT_SECONDS, taken } from '#test/support/queue-drivers.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'

const LOOK_SECONDS = 3

/** Queues over one store that belong to different processes. */
function openQueues() {
  const states = createMemoryStateStore()
  const clock = handClock()
  const another = () => createStateQueue(states, clock, LEASE_SECONDS, LOOK_SECONDS)
  return { queue: another(), another, clock }
}

test('a job that this process offered, or handed back, is taken at once', async () => {
  const { queue } = openQueues()
  expect(await queue.take('worker')).toBeNull()
  await queue.offer(jobOf(1))
  const lease = await taken(queue)
  expect(await queue.take('worker')).toBeNull()
  await queue.release(lease)
  const again = await taken(queue)
  expect(await queue.take('worker')).toBeNull()
  await queue.crash(again, 'index.timeout')
  expect((await taken(queue)).fence).toBe(3)
})

test('a job that is offered during a look is taken at the next one', async () => {
  const { queue } = openQueues()
  const look = queue.take('worker')
  await queue.offer(jobOf(1))
  expect((await look) ?? (await queue.take('worker'))).not.toBeNull()
})

test('a job that another process offered, handed back or crashed over is taken after the interval at the latest', async () => {
  const { queue, another, clock } = openQueues()
  const other = another()
  expect(await queue.take('worker')).toBeNull()
  await other.offer(jobOf(1))
  clock.advance(LOOK_SECONDS)
  const lease = await taken(queue)
  expect(await other.take('other')).toBeNull()
  await queue.release(lease)
  clock.advance(LOOK_SECONDS)
  expect((await taken(other)).fence).toBe(2)
  expect(await queue.take('worker')).toBeNull()
  clock.advance(SILENT_SECONDS)
  expect((await taken(queue)).fence).toBe(3)
})
