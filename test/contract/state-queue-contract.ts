import { describe, expect, onTestFinished, test } from 'vitest'
import { FAILURE_BACKOFF_SECONDS, JOB_CRASHES, OLD_VERSION_DAYS } from '#core/limits.ts'
import type { IndexJob, JobQueue, Lease } from '#core/ports/job-queue.ts'
import type { StateStore, WriteOutcome } from '#core/ports/state-store.ts'
import { jobKey, QUEUE_PREFIX, queueKey } from '#core/snapshot/store-keys.ts'
import { markerOf } from '#infra/queue/job-entries.ts'
import { Markers } from '#infra/queue/markers.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { SILENT_SECONDS, taken } from '#test/support/queue-drivers.ts'
import { type StoreDriver, temporaryFolder } from '#test/support/store-drivers.ts'
import { handClock, jobOf } from '#test/support/store-values.ts'

const INDEXING = { status: 'indexing' }

/** A job of the default branch of one repository. */
const defaultAt = (number: number) => ({ ...jobOf(1), commit: jobOf(number).commit, isDefault: true }) as const

/** What every driver must do. */
export function stateQueueContract({ open }: StoreDriver<StateStore>): void {
  async function openQueue() {
    const states = await open(await temporaryFolder())
    onTestFinished(() => states.close())
    const clock = handClock()
    return { states, clock, queue: createStateQueue(states, clock) }
  }

  test('a closed queue leaves the documents open', async () => {
    const { queue, states } = await openQueue()
    await queue.close()
    expect(await states.read('key')).toBeNull()
  })

  describe('wherever a process dies', () => {
    /** A store whose process dies at its write of that number: that write is made or not, and no later one. */
    function dying(states: StateStore, deathAtWrite: number, writtenAtDeath: boolean): StateStore {
      let writes = 0
      const attempt = async <Outcome extends WriteOutcome | undefined>(write: () => Promise<Outcome>): Promise<Outcome> => {
        writes++
        if (writes > deathAtWrite) throw new Error('dead')
        if (writes < deathAtWrite) return write()
        if (writtenAtDeath) await write()
        throw new Error('dead')
      }
      return {
        ...states,
        create: (key, value) => attempt(() => states.create(key, value)),
        replace: (key, value, etag) => attempt(() => states.replace(key, value, etag)),
        remove: async key => {
          await attempt(async () => {
            await states.remove(key)
            return undefined
          })
        },
      }
    }

    const deaths = [1, 2, 3, 4, 5, 6].flatMap(write => [true, false].map(made => ({ write, made })))

    test.each(deaths)('while it finishes a job, at write $write (made: $made), the job ends', async ({ write, made }) => {
      const { queue, states, clock } = await openQueue()
      const fences: number[] = []
      const live = async (own: JobQueue, end: (lease: Lease) => Promise<void>) => {
        await own.offer(jobOf(1))
        const lease = await own.take('worker')
        if (lease === null) return
        fences.push(lease.fence)
        await end(lease)
      }
      const doomed = createStateQueue(dying(states, write, made), clock)
      await live(doomed, lease => doomed.finish(lease)).catch((error: Error) => expect(error.message).toBe('dead'))
      clock.advance(SILENT_SECONDS)
      await live(queue, lease => queue.finish(lease))
      expect(await states.list('')).toEqual([])
    })

    test.each(deaths)(
      'while it fails a job, at write $write (made: $made), a visitor can start it again',
      async ({ write, made }) => {
        const { queue, states, clock } = await openQueue()
        const doomed = createStateQueue(dying(states, write, made), clock)
        const die = async () => {
          await doomed.offer(jobOf(1))
          const lease = await doomed.take('doomed')
          if (lease !== null) await doomed.fail(lease, 'index.timeout')
        }
        await die().catch((error: Error) => expect(error.message).toBe('dead'))
        clock.advance(SILENT_SECONDS)
        const state = await queue.offer(jobOf(1))
        if (state.status === 'failed') {
          // Nothing that the dead process left starts the job before its time.
          expect(await queue.take('early')).toBeNull()
          expect(await states.list(QUEUE_PREFIX)).toEqual([])
          clock.advance(FAILURE_BACKOFF_SECONDS.first)
          expect(await queue.take('nobody asked')).toBeNull()
          expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
        }
        await queue.finish(await taken(queue))
        expect(await states.list('')).toEqual([])
      },
    )

    test.each(deaths.filter(({ write }) => write <= 2))(
      'while it supersedes a job, at write $write (made: $made), a commit of the default branch waits',
      async ({ write, made }) => {
        const { queue, states, clock } = await openQueue()
        await queue.offer(defaultAt(1))
        const doomed = createStateQueue(dying(states, write, made), clock)
        await expect(doomed.offer(defaultAt(2))).rejects.toThrow('dead')
        expect(await queue.depth()).toBeGreaterThan(0)
        await queue.offer(defaultAt(2))
        const jobs: IndexJob[] = []
        for (let lease = await queue.take('worker'); lease !== null; lease = await queue.take('worker')) {
          jobs.push(lease.job)
          await queue.finish(lease)
        }
        expect(jobs).toContainEqual(defaultAt(2))
      },
    )
  })

  test('a job that changes during its promotion is promoted all the same', async () => {
    const { queue, states, clock } = await openQueue()
    const { isDefault: _, ...ordinary } = defaultAt(2)
    await queue.offer(ordinary)
    const key = queueKey(ordinary.repository, ordinary.commit)
    let changes = 0
    const changing: StateStore = {
      ...states,
      async replace(replaced, value, etag) {
        if (replaced === key && changes++ === 0) {
          await states.remove(key)
          clock.advance(1)
          await queue.offer(ordinary)
        }
        return states.replace(replaced, value, etag)
      },
    }
    await createStateQueue(changing, clock).offer(defaultAt(2))
    expect(changes).toBe(2)
    expect((await taken(queue)).job).toEqual(defaultAt(2))
  })

  test('a job that ended while a worker claimed it does not block another one of its repository', async () => {
    const { queue, states, clock } = await openQueue()
    const { repository, commit } = jobOf(1)
    const next = { repository, commit: jobOf(2).commit }
    for (const job of [jobOf(1), next]) await queue.offer(job)
    const ending: StateStore = {
      ...states,
      async create(key, value) {
        if (key === jobKey(repository, commit)) await states.remove(queueKey(repository, commit))
        return states.create(key, value)
      },
    }
    expect((await taken(createStateQueue(ending, clock))).job).toEqual(next)
    expect(await states.list('')).toHaveLength(2)
  })

  describe('wherever the store fails once', () => {
    /** A store that says at its write of that number that it failed: it was made or not. Every other one succeeds. */
    function stumbling(states: StateStore, at: number, isMade: boolean): StateStore {
      let writes = 0
      const attempt = async <Outcome>(write: () => Promise<Outcome>): Promise<Outcome> => {
        if (++writes !== at) return write()
        if (isMade) await write()
        throw new Error('away')
      }
      return {
        ...states,
        create: (key, value) => attempt(() => states.create(key, value)),
        replace: (key, value, etag) => attempt(() => states.replace(key, value, etag)),
        remove: key => attempt(() => states.remove(key)),
      }
    }

    // Renewing a lease takes one write, finishing its job three.
    const stumbles = [1, 2, 3, 4].flatMap(at => [true, false].map(isMade => ({ at, isMade })))

    test.each(stumbles)('at write $at (made: $isMade), a worker that retries keeps its job, and ends it', async stumble => {
      const { queue: first, states, clock } = await openQueue()
      await first.offer(jobOf(1))
      const lease = await taken(first)
      const queue = createStateQueue(stumbling(states, stumble.at, stumble.isMade), clock)
      const twice = async <Value>(ask: () => Promise<Value>) => {
        return await ask().catch(error => {
          expect(error.message).toBe('away')
          return ask()
        })
      }
      expect(await twice(() => queue.renew(lease))).toMatchObject({ fence: 1 })
      await twice(() => queue.finish(lease))
      expect(await states.list('')).toEqual([])
    })

    test.each(stumbles.filter(({ at }) => at <= 2))(
      'at write $at (made: $isMade), a death that is told again counts once, and a failure that is leaves no job',
      async stumble => {
        const { queue: first, states, clock } = await openQueue()
        const twice = (tell: () => Promise<void>) => tell().catch(tell)
        const stumblingOnce = () => createStateQueue(stumbling(states, stumble.at, stumble.isMade), clock)
        await first.offer(jobOf(1))
        for (let death = 1; death <= JOB_CRASHES; death++) {
          expect(await first.offer(jobOf(1))).toMatchObject(INDEXING)
          const [lease, queue] = [await taken(first), stumblingOnce()]
          await twice(() => queue.crash(lease, 'index.timeout'))
        }
        expect(await first.offer(jobOf(1))).toMatchObject({ status: 'failed', errorCode: 'index.timeout' })
        expect(await states.list(QUEUE_PREFIX)).toEqual([])

        await first.offer(jobOf(2))
        const [lease, queue] = [await taken(first), stumblingOnce()]
        await twice(() => queue.fail(lease, 'index.too_large'))
        expect(await states.list(QUEUE_PREFIX)).toEqual([])
      },
    )
  })

  test('a job whose worker cannot read on is free at once, without a crash counted', async () => {
    const { queue, states, clock } = await openQueue()
    await queue.offer(jobOf(1))
    let reads = 0
    const marker = queueKey(jobOf(1).repository, jobOf(1).commit)
    // The first look at the marker is that of the queue, the second that of who has the job by then.
    const failing = {
      ...states,
      read: (key: string) => (key === marker && ++reads === 2 ? Promise.reject(new Error('away')) : states.read(key)),
    }
    await expect(createStateQueue(failing, clock).take('unlucky')).rejects.toThrow('away')
    expect((await taken(queue)).fence).toBe(2)
    expect((await states.read(jobKey(jobOf(1).repository, jobOf(1).commit)))?.value).toMatchObject({ crashes: 0 })
  })

  test('a finished job is not started again by a slow worker that listed the queue before', async () => {
    const { queue, states, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    // The slow worker listed the marker, and the job ends before it reads on.
    let finished = false
    const slow: StateStore = {
      ...states,
      read: async key => {
        if (!finished && key === jobKey(jobOf(1).repository, jobOf(1).commit)) {
          finished = true
          await queue.finish(lease)
        }
        return states.read(key)
      },
    }
    expect(await createStateQueue(slow, clock).take('slow')).toBeNull()
    expect(finished).toBe(true)
    expect(await states.list('')).toEqual([])
  })

  test('a marker that no worker can read is removed', async () => {
    const { queue, states } = await openQueue()
    await states.create(queueKey(jobOf(1).repository, jobOf(1).commit), 'nonsense')
    await states.create(`${QUEUE_PREFIX}000/x/y.r999`, 'nonsense')
    expect(await queue.take('worker')).toBeNull()
    expect(await states.list('')).toEqual([])
    await queue.offer(jobOf(1))
    expect((await taken(queue)).job).toEqual(jobOf(1))
  })

  test('a job of other reading rules is left to their workers, and removed after a time without one', async () => {
    const { queue, states, clock } = await openQueue()
    const ours = queueKey(jobOf(1).repository, jobOf(1).commit)
    const theirs = ours.replace(/\.r\d+/, '.r999')
    const repository = { ...jobOf(1).repository }
    await states.create(theirs, { ...jobOf(1), repository, offeredAt: clock.now().toISOString() })
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    expect(lease.job).toEqual(jobOf(1))
    expect(await queue.take('worker')).toBeNull()
    await queue.finish(lease)
    expect(await states.list('')).toEqual([theirs])
    clock.advance(OLD_VERSION_DAYS * 24 * 3600 + 1)
    expect(await queue.take('worker')).toBeNull()
    expect(await states.list('')).toEqual([])
  })

  test('of more jobs than a worker keeps in memory, a new one with the first turn is found, and then the others', async () => {
    const { states, clock, queue } = await openQueue()
    const markers = new Markers(states, clock, 5)
    for (let number = 0; number < 8; number++) {
      await queue.offer(jobOf(number))
      clock.advance(1)
    }
    const commits = async () => (await markers.inTurn()).map(({ marker }) => marker.commit)
    const first = (from: number) => Array.from({ length: 5 }, (_, number) => jobOf(from + number).commit)
    expect(await commits()).toEqual(first(0))
    const { repository, commit } = jobOf(20)
    const earlier = new Date(clock.now().getTime() - 3_600_000)
    await states.create(queueKey(repository, commit), markerOf({ repository, commit }, earlier, earlier))
    expect(await commits()).toEqual([commit, ...first(0).slice(0, 4)])
    await markers.remove(queueKey(repository, commit))
    for (let number = 0; number < 3; number++) await markers.remove(queueKey(jobOf(number).repository, jobOf(number).commit))
    expect(await commits()).toEqual(first(3))
  })

  test('a record that no worker can read counts as none', async () => {
    const { queue, states } = await openQueue()
    await states.create(jobKey(jobOf(1).repository, jobOf(1).commit), { state: 'of another version' })
    expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
    const lease = await taken(queue)
    await queue.finish(lease)
    expect(await states.list('')).toEqual([])
  })
}
