import { expect, test } from 'vitest'
import { LEASE_SECONDS } from '#core/limits.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { createMemoryStateStore } from '#infra/memory/state-store.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { SILENT_SECONDS, taken } from '#test/support/queue-drivers.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'

const LOOK_SECONDS = 3

/** A store that counts what it is asked for, and queues over it that belong to processes of their own. */
function countedQueue() {
  const states = createMemoryStateStore()
  const clock = handClock()
  const counts = { list: 0, read: 0, write: 0 }
  const counted: StateStore = {
    ...states,
    list(prefix, options) {
      counts.list++
      return states.list(prefix, options)
    },
    read(key) {
      counts.read++
      return states.read(key)
    },
    create(key, value) {
      counts.write++
      return states.create(key, value)
    },
    replace(key, value, etag) {
      counts.write++
      return states.replace(key, value, etag)
    },
    remove(key) {
      counts.write++
      return states.remove(key)
    },
  }
  const open = () => createStateQueue(counted, clock, LEASE_SECONDS, LOOK_SECONDS)
  return {
    queue: open(),
    another: open,
    clock,
    /** What was asked for since. */
    async asked(work: () => Promise<unknown>) {
      const before = { ...counts }
      await work()
      return [counts.list - before.list, counts.read - before.read, counts.write - before.write]
    },
  }
}

test('an empty queue is listed once in an interval, for any number of looks', async () => {
  const { queue, clock, asked } = countedQueue()
  const looks = async () => {
    for (let second = 0; second < 60; second++) {
      await queue.take('worker')
      clock.advance(1)
    }
  }
  expect(await asked(looks)).toEqual([60 / LOOK_SECONDS, 0, 0])
})

test('a job that this process offered, or handed back, is taken at once', async () => {
  const { queue } = countedQueue()
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
  const { queue } = countedQueue()
  const look = queue.take('worker')
  await queue.offer(jobOf(1))
  expect((await look) ?? (await queue.take('worker'))).not.toBeNull()
})

test('a job that another process offered, handed back or crashed over is taken after the interval at the latest', async () => {
  const { queue, another, clock } = countedQueue()
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

test('jobs that others hold are not looked at each time', async () => {
  const { queue, another, clock, asked } = countedQueue()
  for (let number = 0; number < 20; number++) {
    await queue.offer(jobOf(number))
    clock.advance(0.001)
  }
  for (let held = 0; held < 15; held++) await taken(queue)
  const newcomer = another()
  // All markers, the records of those that are held, and for the first one that waits its record, its lease and its marker.
  expect(await asked(() => taken(newcomer))).toEqual([1, 20 + 15 + 2, 1])
  expect(await asked(() => taken(newcomer))).toEqual([1, 2, 1])
})

test('with 1,500 waiting jobs, a look stays small, every job is taken, and the oldest of the seen ones first', async () => {
  const { queue, another, clock, asked } = countedQueue()
  const jobs = Array.from({ length: 1_500 }, (_, number) => jobOf(number))
  for (const job of jobs) {
    await queue.offer(job)
    clock.advance(0.001)
  }
  const worker = another()
  const done = new Set<string>()
  for (let look = 0; look < jobs.length; look++) {
    const [lists, reads, writes] = await asked(async () => {
      const lease = await taken(worker)
      done.add(lease.job.commit)
      await worker.finish(lease)
    })
    expect(lists).toBe(1)
    expect(reads).toBeLessThanOrEqual(100 + 4)
    expect(writes).toBeLessThanOrEqual(4)
  }
  expect(done.size).toBe(jobs.length)
  expect(await worker.take('worker')).toBeNull()

  for (const job of jobs.slice(0, 90).toReversed()) {
    await queue.offer(job)
    clock.advance(0.001)
  }
  clock.advance(LOOK_SECONDS)
  for (const job of jobs.slice(0, 90).toReversed()) expect((await taken(worker)).job).toEqual(job)
})
