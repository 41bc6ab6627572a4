import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FAILURE_BACKOFF_SECONDS, JOB_CRASHES, LEASE_SECONDS } from '#core/limits.ts'
import type { DocStore, WriteOutcome } from '#core/ports/doc-store.ts'
import type { JobQueue, Lease } from '#core/ports/job-queue.ts'
import { jobKey, QUEUE_PREFIX, queueKey } from '#core/snapshot/keys.ts'
import { openDiskDocStore } from '#infra/disk/doc-store.ts'
import { createDocQueue } from '#infra/queue/doc-queue.ts'
import { DOC_STORE_DRIVERS, temporaryFolder } from '#test/support/store-drivers.ts'
import { startStoreProcess } from '#test/support/store-process.ts'
import { fastClock, handClock, jobOf } from '#test/support/store-values.ts'

const INDEXING = { status: 'indexing' }

describe.each(DOC_STORE_DRIVERS)('index jobs over documents: $driver', ({ open }) => {
  async function openQueue() {
    const docs = await open(await temporaryFolder())
    onTestFinished(() => docs.close())
    const clock = handClock()
    return { docs, clock, queue: createDocQueue(docs, clock) }
  }

  async function taken(queue: JobQueue, worker = 'worker'): Promise<Lease> {
    const lease = await queue.take(worker)
    if (lease === null) throw new Error('there is no job to take')
    return lease
  }

  test('an empty queue gives nothing', async () => {
    const { queue } = await openQueue()
    expect(await queue.take('worker')).toBeNull()
  })

  test('an offered job is taken as it was offered, under a lease', async () => {
    const { queue, clock } = await openQueue()
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    const lease = await taken(queue)
    expect(lease).toEqual({
      job: jobOf(1),
      worker: 'worker',
      fence: 1,
      until: new Date(clock.now().getTime() + LEASE_SECONDS * 1000).toISOString(),
      etag: expect.any(String),
    })
  })

  test('a job keeps who owns the repository, and that its commit is that of the default branch', async () => {
    const { queue } = await openQueue()
    const { repository, commit } = jobOf(1)
    const job = { repository: { ...repository, ownerId: 'test-owner' }, commit, isDefault: true } as const
    await queue.offer(job)
    expect((await taken(queue)).job).toEqual(job)
  })

  test('a job that is handed back waits again, and the worker that stopped did not die over it', async () => {
    const { queue } = await openQueue()
    await queue.offer(jobOf(1))
    for (let fence = 1; fence <= JOB_CRASHES + 2; fence++) {
      const lease = await taken(queue)
      expect(lease.fence).toBe(fence)
      await queue.release(lease)
      expect(await queue.renew(lease)).toBeNull()
      expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    }
  })

  test('whoever lost the job cannot hand it back', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const lost = await taken(queue, 'first')
    clock.advance(LEASE_SECONDS)
    const held = await taken(queue, 'second')
    await queue.release(lost)
    expect(await queue.take('third')).toBeNull()
    expect(await queue.renew(held)).not.toBeNull()
  })

  test('a repository that changes from public to private has jobs of its own: none waits for, or fails with, the other', async () => {
    const { queue } = await openQueue()
    const { repository, commit } = jobOf(1)
    const [open, hidden] = (['public', 'private'] as const).map(visibility => ({
      repository: { ...repository, visibility },
      commit,
    })) as [ReturnType<typeof jobOf>, ReturnType<typeof jobOf>]
    await queue.offer(open)
    const lease = await taken(queue)
    expect(await queue.offer(hidden)).toEqual(INDEXING)
    await queue.fail(lease, 'index.fetch_failed')
    expect(await queue.offer(open)).toMatchObject({ status: 'failed' })
    expect(await queue.offer(hidden)).toEqual(INDEXING)
    expect((await taken(queue)).job).toEqual(hidden)
    expect(await queue.take('other')).toBeNull()
  })

  test('32 parallel offers leave one job', async () => {
    const { queue, docs, clock } = await openQueue()
    const queues = [queue, createDocQueue(docs, clock)]
    const states = await Promise.all(Array.from({ length: 32 }, (_, index) => queues[index % 2]?.offer(jobOf(1))))
    expect(states).toEqual(Array.from({ length: 32 }, () => INDEXING))
    expect(await docs.list(QUEUE_PREFIX)).toHaveLength(1)
    await taken(queue)
    expect(await queue.take('other')).toBeNull()
  })

  test('of 16 parallel takers of one job one has it', async () => {
    const { queue, docs, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const leases = await Promise.all(
      Array.from({ length: 16 }, (_, index) => createDocQueue(docs, clock).take(`worker-${index}`)),
    )
    expect(leases.filter(lease => lease !== null)).toHaveLength(1)
  })

  test('16 parallel takers of 40 jobs never have the same one', async () => {
    const { queue, docs, clock } = await openQueue()
    for (let number = 0; number < 40; number++) await queue.offer(jobOf(number))
    const leases: Lease[] = []
    const takeAll = async (worker: string) => {
      const own = createDocQueue(docs, clock)
      for (let lease = await own.take(worker); lease !== null; lease = await own.take(worker)) leases.push(lease)
    }
    await Promise.all(Array.from({ length: 16 }, (_, index) => takeAll(`worker-${index}`)))
    expect(leases.map(({ job }) => job.commit).sort()).toEqual(
      Array.from({ length: 40 }, (_, number) => jobOf(number).commit).sort(),
    )
  })

  test('an offer for a waiting or running job changes nothing', async () => {
    const { queue, docs, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const marker = await docs.read(queueKey(jobOf(1).repository, jobOf(1).commit))
    clock.advance(1)
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    await taken(queue)
    const record = await docs.read(jobKey(jobOf(1).repository, jobOf(1).commit))
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    clock.advance(LEASE_SECONDS)
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    expect(await docs.read(queueKey(jobOf(1).repository, jobOf(1).commit))).toEqual(marker)
    expect(await docs.read(jobKey(jobOf(1).repository, jobOf(1).commit))).toEqual(record)
  })

  test('the oldest job is taken first, whatever its key', async () => {
    const { queue, clock } = await openQueue()
    const order = [5, 2, 9, 1, 8, 3]
    for (const number of order) {
      await queue.offer(jobOf(number))
      clock.advance(0.001)
    }
    for (const number of order) expect((await taken(queue)).job).toEqual(jobOf(number))
  })

  test('jobs that others hold do not keep a worker from those behind them', async () => {
    const { queue, docs, clock } = await openQueue()
    for (let number = 0; number < 30; number++) {
      await queue.offer(jobOf(number))
      clock.advance(0.001)
    }
    for (let number = 0; number < 29; number++) await taken(queue)
    const newcomer = createDocQueue(docs, clock)
    expect((await taken(newcomer, 'newcomer')).job).toEqual(jobOf(29))
    expect(await newcomer.take('newcomer')).toBeNull()
  })

  test('a job is taken again, with a higher fence, once its lease ran out', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const first = await taken(queue, 'first')
    clock.advance(LEASE_SECONDS - 0.001)
    expect(await queue.take('second')).toBeNull()
    clock.advance(0.001)
    const second = await taken(queue, 'second')
    expect(second.job).toEqual(first.job)
    expect(second.fence).toBeGreaterThan(first.fence)
  })

  test('a renewed lease holds on, and can be renewed again', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    let lease = await taken(queue)
    for (let turn = 0; turn < 5; turn++) {
      clock.advance(LEASE_SECONDS - 1)
      const next = await queue.renew(lease)
      expect(next).toMatchObject({ job: lease.job, worker: 'worker', fence: lease.fence })
      expect(next?.until).toBe(new Date(clock.now().getTime() + LEASE_SECONDS * 1000).toISOString())
      lease = next ?? lease
    }
    expect(await queue.take('other')).toBeNull()
  })

  test('a lease that ran out is still renewed while nobody took the job', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    clock.advance(LEASE_SECONDS * 3)
    expect(await queue.renew(lease)).not.toBeNull()
    expect(await queue.take('other')).toBeNull()
  })

  test('whoever lost a lease can neither renew nor finish nor fail the job of the one that holds it', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const lost = await taken(queue, 'first')
    clock.advance(LEASE_SECONDS)
    const held = await taken(queue, 'second')
    expect(await queue.renew(lost)).toBeNull()
    await queue.fail(lost, 'index.timeout')
    await queue.finish(lost)
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    expect(await queue.take('third')).toBeNull()
    expect(await queue.renew(held)).not.toBeNull()
  })

  test('a lease from before its own renewal is lost too', async () => {
    const { queue } = await openQueue()
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    await queue.renew(lease)
    expect(await queue.renew(lease)).toBeNull()
  })

  test('a finished job leaves no trace, and may be offered anew', async () => {
    const { queue, docs } = await openQueue()
    await queue.offer(jobOf(1))
    await queue.finish(await taken(queue))
    expect(await docs.list('')).toEqual([])
    expect(await queue.take('worker')).toBeNull()
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    expect((await taken(queue)).job).toEqual(jobOf(1))
  })

  test('finishing twice, or after a failure, is no error', async () => {
    const { queue } = await openQueue()
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    await queue.fail(lease, 'index.fetch_failed')
    await queue.finish(lease)
    await queue.finish(lease)
    await queue.fail(lease, 'index.timeout')
    expect(await queue.renew(lease)).toBeNull()
    expect(await queue.offer(jobOf(1))).toMatchObject({ status: 'failed', errorCode: 'index.fetch_failed' })
  })

  test('a failed job is told with its code and instant, and nobody takes it', async () => {
    const { queue, docs, clock } = await openQueue()
    await queue.offer(jobOf(1))
    await queue.fail(await taken(queue), 'index.too_large')
    const retryAt = new Date(clock.now().getTime() + FAILURE_BACKOFF_SECONDS.first * 1000).toISOString()
    const before = await docs.list('')
    expect(await queue.offer(jobOf(1))).toEqual({ status: 'failed', errorCode: 'index.too_large', retryAt })
    expect(await docs.list('')).toEqual(before)
    expect(await queue.take('worker')).toBeNull()
    clock.advance(FAILURE_BACKOFF_SECONDS.first)
    expect(await queue.take('worker'), 'nobody asked for it again').toBeNull()
  })

  test('once the backoff elapsed the next offer leaves the job again, with a higher fence', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const first = await taken(queue)
    await queue.fail(first, 'index.timeout')
    clock.advance(FAILURE_BACKOFF_SECONDS.first - 0.001)
    expect(await queue.offer(jobOf(1))).toMatchObject({ status: 'failed' })
    clock.advance(0.001)
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    expect((await taken(queue)).fence).toBeGreaterThan(first.fence)
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
  })

  test('the backoff doubles with each failure, up to its bound, and starts over after a success', async () => {
    const { queue, clock } = await openQueue()
    const failOnce = async () => {
      await queue.offer(jobOf(1))
      await queue.fail(await taken(queue), 'index.timeout')
      const state = await queue.offer(jobOf(1))
      const waitMs = state.status === 'failed' ? Date.parse(state.retryAt) - clock.now().getTime() : Number.NaN
      clock.advance(waitMs / 1000)
      return waitMs / 1000
    }
    const waits: number[] = []
    for (let turn = 0; turn < 9; turn++) waits.push(await failOnce())
    expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
    await queue.offer(jobOf(1))
    await queue.finish(await taken(queue))
    expect(await failOnce()).toBe(30)
  })

  test('a job over which three workers died fails instead of being taken', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const fences: number[] = []
    for (let death = 0; death < JOB_CRASHES; death++) {
      fences.push((await taken(queue, `worker-${death}`)).fence)
      clock.advance(LEASE_SECONDS)
    }
    expect(fences).toEqual([1, 2, 3])
    expect(await queue.take('fourth')).toBeNull()
    expect(await queue.offer(jobOf(1))).toMatchObject({ status: 'failed', errorCode: 'index.internal' })
    clock.advance(FAILURE_BACKOFF_SECONDS.first)
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    expect((await taken(queue)).fence).toBe(4)
  })

  test('a job over which three workers died does not hide the one behind it', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    for (let death = 0; death < JOB_CRASHES; death++) {
      await taken(queue)
      clock.advance(LEASE_SECONDS)
    }
    await queue.offer(jobOf(2))
    expect((await taken(queue)).job).toEqual(jobOf(2))
  })

  test('jobs at different commits and of different repositories know nothing of each other', async () => {
    const { queue } = await openQueue()
    const sibling = { ...jobOf(1), commit: jobOf(2).commit }
    const elsewhere = { ...jobOf(1), repository: jobOf(2).repository }
    for (const job of [jobOf(1), sibling, elsewhere]) await queue.offer(job)
    await queue.fail(await taken(queue), 'index.timeout')
    const rest = [await taken(queue), await taken(queue)]
    expect(await queue.take('worker')).toBeNull()
    for (const lease of rest) await queue.finish(lease)
    const states = await Promise.all([jobOf(1), sibling, elsewhere].map(job => queue.offer(job)))
    expect(states.filter(({ status }) => status === 'failed')).toHaveLength(1)
  })

  test('a closed queue leaves the documents open', async () => {
    const { queue, docs } = await openQueue()
    await queue.close()
    expect(await docs.read('key')).toBeNull()
  })

  describe('wherever a process dies', () => {
    /** A store whose process dies at its write of that number: that write is made or not, and no later one. */
    function dying(docs: DocStore, deathAtWrite: number, writtenAtDeath: boolean): DocStore {
      let writes = 0
      const attempt = async <Outcome extends WriteOutcome | undefined>(write: () => Promise<Outcome>): Promise<Outcome> => {
        writes++
        if (writes > deathAtWrite) throw new Error('dead')
        if (writes < deathAtWrite) return write()
        if (writtenAtDeath) await write()
        throw new Error('dead')
      }
      return {
        ...docs,
        create: (key, value) => attempt(() => docs.create(key, value)),
        replace: (key, value, etag) => attempt(() => docs.replace(key, value, etag)),
        remove: async key => {
          await attempt(async () => {
            await docs.remove(key)
            return undefined
          })
        },
      }
    }

    const deaths = [1, 2, 3, 4, 5, 6].flatMap(write => [true, false].map(made => ({ write, made })))

    test.each(deaths)(
      'while it finishes a job, at write $write (made: $made), the job comes to its end',
      async ({ write, made }) => {
        const { queue, docs, clock } = await openQueue()
        const fences: number[] = []
        const live = async (own: JobQueue, end: (lease: Lease) => Promise<void>) => {
          await own.offer(jobOf(1))
          const lease = await own.take('worker')
          if (lease === null) return
          fences.push(lease.fence)
          await end(lease)
        }
        const doomed = createDocQueue(dying(docs, write, made), clock)
        await live(doomed, lease => doomed.finish(lease)).catch((error: Error) => expect(error.message).toBe('dead'))
        clock.advance(LEASE_SECONDS)
        await live(queue, lease => queue.finish(lease))
        expect(await docs.list('')).toEqual([])
      },
    )

    test.each(deaths)(
      'while it fails a job, at write $write (made: $made), a visitor can have it again',
      async ({ write, made }) => {
        const { queue, docs, clock } = await openQueue()
        const doomed = createDocQueue(dying(docs, write, made), clock)
        const die = async () => {
          await doomed.offer(jobOf(1))
          const lease = await doomed.take('doomed')
          if (lease !== null) await doomed.fail(lease, 'index.timeout')
        }
        await die().catch((error: Error) => expect(error.message).toBe('dead'))
        clock.advance(LEASE_SECONDS)
        const state = await queue.offer(jobOf(1))
        if (state.status === 'failed') {
          // Nothing that the dead process left starts the job before its time.
          expect(await queue.take('early')).toBeNull()
          expect(await docs.list(QUEUE_PREFIX)).toEqual([])
          clock.advance(FAILURE_BACKOFF_SECONDS.first)
          expect(await queue.take('nobody asked')).toBeNull()
          expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
        }
        await queue.finish(await taken(queue))
        expect(await docs.list('')).toEqual([])
      },
    )
  })

  test('a job that was finished while a slow worker looked at the queue is not started over', async () => {
    const { queue, docs, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    // The slow worker listed the marker, and the job ends before it reads on.
    let finished = false
    const slow: DocStore = {
      ...docs,
      read: async key => {
        if (!finished && key === jobKey(jobOf(1).repository, jobOf(1).commit)) {
          finished = true
          await queue.finish(lease)
        }
        return docs.read(key)
      },
    }
    expect(await createDocQueue(slow, clock).take('slow')).toBeNull()
    expect(finished).toBe(true)
    expect(await docs.list('')).toEqual([])
  })

  test('a marker that no worker can read, or of other reading rules, is removed', async () => {
    const { queue, docs } = await openQueue()
    const marker = { ...jobOf(1), repository: { ...jobOf(1).repository }, offeredAt: '2026-03-01T12:00:00.000Z' }
    const key = queueKey(jobOf(1).repository, jobOf(1).commit)
    await docs.create(key, 'nonsense')
    await docs.create(`${QUEUE_PREFIX}000/x/y.r999`, { ...marker })
    expect(await queue.take('worker')).toBeNull()
    expect(await docs.list('')).toEqual([])
    await queue.offer(jobOf(1))
    expect((await taken(queue)).job).toEqual(jobOf(1))
  })

  test('a record that no worker can read counts as none', async () => {
    const { queue, docs } = await openQueue()
    await docs.create(jobKey(jobOf(1).repository, jobOf(1).commit), { state: 'of another version' })
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    const lease = await taken(queue)
    await queue.finish(lease)
    expect(await docs.list('')).toEqual([])
  })
})

test('8 processes do 40 jobs while some are killed: no lease twice, and every job done', async () => {
  const file = join(await temporaryFolder(), 'docs.sqlite')
  const docs = await openDiskDocStore(file)
  onTestFinished(() => docs.close())
  // A lease lasts a third of a second of the wall's clock.
  const [startMs, times] = [Date.now(), 45]
  const queue = createDocQueue(docs, fastClock(startMs, times))
  const start = (index: number) => startStoreProcess('work', [file, `worker-${index}`, String(startMs), String(times)])
  const workers = Array.from({ length: 8 }, (_, index) => start(index))
  await Promise.all(workers.map(worker => worker.printed(1)))
  const takings = () => workers.flatMap(({ lines }) => lines.slice(1))

  const jobs = Array.from({ length: 40 }, (_, number) => jobOf(number))
  for (const job of jobs) await queue.offer(job)
  for (let killed = 0; killed < 5; killed++) {
    while (takings().length < 5 * (killed + 1)) await sleep(2)
    // The one that did the most so far, at any moment of its work.
    await sleep(killed * 5)
    const busiest = workers.filter(({ child }) => !child.killed).sort((a, b) => b.lines.length - a.lines.length)[0]
    busiest?.child.kill('SIGKILL')
    workers.push(start(workers.length))
  }

  // Visitors ask again for what failed, as they would for a job that killed three workers.
  for (let done = 0; done < jobs.length || (await docs.list(QUEUE_PREFIX)).length > 0; ) {
    await sleep(50)
    for (const job of jobs) {
      const record = await docs.read(jobKey(job.repository, job.commit))
      if (record !== null && JSON.stringify(record.value).includes('"failed"')) await queue.offer(job)
    }
    done = (await docs.list('done/')).length
  }

  for (const { child } of workers) child.kill('SIGKILL')
  const ends = await Promise.all(workers.map(({ ended }) => ended))
  expect(ends).toEqual(workers.map(() => ({ code: null, signal: 'SIGKILL', errors: '' })))
  expect(takings().length).toBeGreaterThanOrEqual(jobs.length)
  expect(new Set(takings()).size).toBe(takings().length)
  expect(await docs.list('done/')).toEqual(jobs.map(({ commit }) => `done/${commit}`).sort())
})
