import { expect, test } from 'vitest'
import { LEASE_SECONDS } from '#core/limits.ts'
import type { JobQueue, Lease } from '#core/ports/job-queue.ts'
import { type QueueDriver, SILENT_SECONDS, taken } from '#test/support/queue-drivers.ts'
import { jobOf } from '#test/support/store-values.ts'
import { jobQueueFailuresContract } from './job-queue-failures-contract.ts'

const INDEXING = { status: 'indexing' }

/** What every driver must do. */
export function jobQueueContract(driver: QueueDriver): void {
  const { open: openQueue } = driver
  test('an empty queue gives nothing', async () => {
    const { queue } = await openQueue()
    expect(await queue.take('worker')).toBeNull()
  })

  test('an offered job is taken unchanged, under a lease', async () => {
    const { queue, clock } = await openQueue()
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    const lease = await taken(queue)
    expect(lease).toMatchObject({
      job: jobOf(1),
      worker: 'worker',
      fence: 1,
      until: new Date(clock.now().getTime() + LEASE_SECONDS * 1000).toISOString(),
    })
  })

  test('a job keeps the owner of the repository, and the mark of the default branch', async () => {
    const { queue } = await openQueue()
    const { repository, commit } = jobOf(1)
    const job = { repository: { ...repository, ownerId: 'test-owner' }, commit, isDefault: true } as const
    await queue.offer(job)
    expect((await taken(queue)).job).toEqual(job)
  })

  test('a repository that changes from public to private has separate jobs: none waits for, or fails with, the other', async () => {
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
    const { queue, another } = await openQueue()
    const queues = [queue, await another()]
    const states = await Promise.all(Array.from({ length: 32 }, (_, index) => queues[index % 2]?.offer(jobOf(1))))
    expect(states).toEqual(Array.from({ length: 32 }, () => INDEXING))
    expect(await queue.depth()).toBe(1)
    await taken(queue)
    expect(await queue.take('other')).toBeNull()
  })

  test('of 16 parallel takers of one job one gets it', async () => {
    const { queue, another } = await openQueue()
    await queue.offer(jobOf(1))
    const queues = [queue, await another(), await another(), await another()]
    const leases = await Promise.all(Array.from({ length: 16 }, (_, index) => queues[index % 4]?.take(`worker-${index}`)))
    expect(leases.filter(lease => lease !== null)).toHaveLength(1)
  })

  test('16 parallel takers of 40 jobs never have the same one', async () => {
    const { queue, another } = await openQueue()
    for (let number = 0; number < 40; number++) await queue.offer(jobOf(number))
    const leases: Lease[] = []
    const queues = [queue, await another(), await another(), await another()]
    const takeAll = async (worker: string, own: JobQueue) => {
      for (let lease = await own.take(worker); lease !== null; lease = await own.take(worker)) leases.push(lease)
    }
    await Promise.all(Array.from({ length: 16 }, (_, index) => takeAll(`worker-${index}`, queues[index % 4] ?? queue)))
    expect(leases.map(({ job }) => job.commit).sort()).toEqual(
      Array.from({ length: 40 }, (_, number) => jobOf(number).commit).sort(),
    )
  })

  test('an offer for a waiting or running job changes nothing', async () => {
    const { queue, clock, contents } = await openQueue()
    await queue.offer(jobOf(1))
    const waiting = await contents()
    await clock.advance(1)
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    expect(await contents()).toEqual(waiting)
    await taken(queue)
    const running = await contents()
    expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
    await clock.advance(LEASE_SECONDS)
    expect(await queue.offer(jobOf(1))).toEqual(INDEXING)
    expect(await contents()).toEqual(running)
  })

  test('the oldest job is taken first, for any key', async () => {
    const { queue, clock } = await openQueue()
    const order = [5, 2, 9, 1, 8, 3]
    for (const number of order) {
      await queue.offer(jobOf(number))
      await clock.advance(0.001)
    }
    for (const number of order) expect((await taken(queue)).job).toEqual(jobOf(number))
  })

  test('jobs that others hold do not block the jobs behind them', async () => {
    const { queue, another, clock } = await openQueue()
    for (let number = 0; number < 30; number++) {
      await queue.offer(jobOf(number))
      await clock.advance(0.001)
    }
    for (let number = 0; number < 29; number++) await taken(queue)
    const newcomer = await another()
    expect((await taken(newcomer, 'newcomer')).job).toEqual(jobOf(29))
    expect(await newcomer.take('newcomer')).toBeNull()
  })

  test('a job is taken again, with a higher fence, once its lease ran out and clocks may differ no more', async () => {
    const { queue, clock, noticeSeconds } = await openQueue()
    await queue.offer(jobOf(1))
    const first = await taken(queue, 'first')
    await clock.advance(SILENT_SECONDS - 0.001)
    expect(await queue.take('second')).toBeNull()
    await clock.advance(0.001 + noticeSeconds)
    const second = await taken(queue, 'second')
    expect(second.job).toEqual(first.job)
    expect(second.fence).toBeGreaterThan(first.fence)
  })

  test('a renewed lease holds on, and can be renewed again', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    let lease = await taken(queue)
    for (let turn = 0; turn < 5; turn++) {
      await clock.advance(LEASE_SECONDS - 1)
      const next = await queue.renew(lease)
      expect(next).toMatchObject({ job: lease.job, worker: 'worker', fence: lease.fence })
      expect(next?.until).toBe(new Date(clock.now().getTime() + LEASE_SECONDS * 1000).toISOString())
      lease = next ?? lease
    }
    expect(await queue.take('other')).toBeNull()
  })

  test('the stage of a running job is known at once in its process, and elsewhere after the next renewal', async () => {
    const { queue, another, contents } = await openQueue()
    const elsewhere = await another()
    const offered = () => Promise.all([queue, elsewhere].map(one => one.offer(jobOf(1))))
    expect(await offered(), 'it waits').toEqual([INDEXING, INDEXING])
    const lease = await taken(queue)
    expect(await offered()).toEqual([
      { ...INDEXING, stage: 'open' },
      { ...INDEXING, stage: 'open' },
    ])
    const before = await contents()
    queue.enter(lease, 'tree')
    const reading = { stage: 'content', progress: { done: 200, total: 15_000 } } as const
    queue.enter(lease, reading.stage, reading.progress)
    expect(await contents(), 'a stage costs no write').toEqual(before)
    expect(await offered()).toEqual([
      { ...INDEXING, ...reading },
      { ...INDEXING, stage: 'open' },
    ])
    await queue.renew(lease)
    expect(await offered()).toEqual([
      { ...INDEXING, ...reading },
      { ...INDEXING, ...reading },
    ])
    queue.enter(lease, 'write')
    await queue.renew(lease)
    expect(await offered(), 'the count was of the stage before').toEqual([
      { ...INDEXING, stage: 'write' },
      { ...INDEXING, stage: 'write' },
    ])
    await queue.release(lease)
    expect(await offered(), 'it waits again').toEqual([INDEXING, INDEXING])
    await taken(elsewhere)
    expect(await offered(), 'another attempt').toEqual([
      { ...INDEXING, stage: 'open' },
      { ...INDEXING, stage: 'open' },
    ])
  })

  test('an expired lease can be renewed while the job was not taken again', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    await clock.advance(LEASE_SECONDS * 3)
    expect(await queue.renew(lease)).not.toBeNull()
    expect(await queue.take('other')).toBeNull()
  })

  test('a worker that lost its lease can neither renew, finish nor fail the job of the new holder', async () => {
    const { queue, clock, noticeSeconds } = await openQueue()
    await queue.offer(jobOf(1))
    const lost = await taken(queue, 'first')
    await clock.advance(SILENT_SECONDS + noticeSeconds)
    const held = await taken(queue, 'second')
    expect(await queue.renew(lost)).toBeNull()
    await queue.fail(lost, 'index.timeout')
    await queue.finish(lost)
    expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
    expect(await queue.take('third')).toBeNull()
    expect(await queue.renew(held)).not.toBeNull()
  })

  test('a lease stays although its worker did not receive the answer to its renewal', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    await queue.renew(lease)
    await clock.advance(LEASE_SECONDS / 2)
    expect(await queue.renew(lease)).toMatchObject({ fence: 1 })
    await queue.finish(lease)
    expect(await queue.depth()).toBe(0)
  })

  test('a finished job leaves no entry, and may be offered again', async () => {
    const { queue, contents } = await openQueue()
    await queue.offer(jobOf(1))
    await queue.finish(await taken(queue))
    expect(await contents()).toEqual([])
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

  test('jobs of different commits and of different repositories are independent', async () => {
    const { queue } = await openQueue()
    const sibling = { ...jobOf(1), commit: jobOf(2).commit }
    const elsewhere = { ...jobOf(1), repository: jobOf(2).repository }
    for (const job of [jobOf(1), sibling, elsewhere]) await queue.offer(job)
    await queue.fail(await taken(queue), 'index.timeout')
    for (let left = 2; left > 0; left--) await queue.finish(await taken(queue))
    expect(await queue.take('worker')).toBeNull()
    const states = await Promise.all([jobOf(1), sibling, elsewhere].map(job => queue.offer(job)))
    expect(states.filter(({ status }) => status === 'failed')).toHaveLength(1)
  })

  test('its depth is the number of jobs that wait or run', async () => {
    const { queue } = await openQueue()
    expect(await queue.depth()).toBe(0)
    for (const number of [1, 2, 3, 3]) await queue.offer(jobOf(number))
    expect(await queue.depth()).toBe(3)
    const [first, second, third] = [await taken(queue), await taken(queue), await taken(queue)]
    expect(await queue.depth()).toBe(3)
    await queue.release(first)
    expect(await queue.depth()).toBe(3)
    await queue.finish(second)
    expect(await queue.depth()).toBe(2)
    await queue.fail(third, 'index.timeout')
    expect(await queue.depth()).toBe(1)
    await queue.offer(third.job)
    expect(await queue.depth(), 'an offer that is refused leaves nothing').toBe(1)
  })

  jobQueueFailuresContract(driver)
}
