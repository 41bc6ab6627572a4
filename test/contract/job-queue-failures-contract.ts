import { expect, test } from 'vitest'
import { FAILURE_BACKOFF_SECONDS, JOB_CRASHES } from '#core/limits.ts'
import { type QueueDriver, SILENT_SECONDS, taken } from '#test/support/queue-drivers.ts'
import { jobOf } from '#test/support/store-values.ts'

const INDEXING = { status: 'indexing' }

/** What every driver must do with jobs that a worker does not finish: handed back, failed, or died over. */
export function jobQueueFailuresContract({ open: openQueue }: QueueDriver): void {
  test('a job that is handed back waits again, without a crash counted', async () => {
    const { queue } = await openQueue()
    await queue.offer(jobOf(1))
    for (let fence = 1; fence <= JOB_CRASHES + 2; fence++) {
      const lease = await taken(queue)
      expect(lease.fence).toBe(fence)
      await queue.release(lease)
      expect(await queue.renew(lease)).toBeNull()
      expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
    }
  })

  test('a job whose process died waits again at once, and fails with the code of the last death', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    for (let death = 1; death < JOB_CRASHES; death++) {
      const lease = await taken(queue)
      await queue.crash(lease, 'index.timeout')
      expect(await queue.renew(lease)).toBeNull()
      expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
      // Handing it back in between forgives nothing.
      await queue.release(await taken(queue))
    }
    await queue.crash(await taken(queue), 'index.timeout')
    expect(await queue.offer(jobOf(1))).toEqual({
      status: 'failed',
      errorCode: 'index.timeout',
      retryAt: new Date(clock.now().getTime() + FAILURE_BACKOFF_SECONDS.first * 1000).toISOString(),
    })
    expect(await queue.depth()).toBe(0)
    await clock.advance(FAILURE_BACKOFF_SECONDS.first)
    await queue.offer(jobOf(1))
    await queue.crash(await taken(queue), 'index.timeout')
    expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
  })

  test('a peek tells the state of a job, and adds none', async () => {
    const { queue, clock } = await openQueue()
    expect(await queue.peek(jobOf(1))).toBeNull()
    expect(await queue.depth()).toBe(0)
    await queue.offer(jobOf(1))
    expect(await queue.peek(jobOf(1))).toEqual(INDEXING)
    const lease = await taken(queue)
    expect(await queue.peek(jobOf(1))).toMatchObject(INDEXING)
    await queue.fail(lease, 'index.too_large')
    const failed = { status: 'failed', errorCode: 'index.too_large' }
    expect(await queue.peek(jobOf(1))).toMatchObject(failed)
    await clock.advance(FAILURE_BACKOFF_SECONDS.first)
    expect(await queue.peek(jobOf(1))).toMatchObject(failed)
    expect(await queue.depth()).toBe(0)
  })

  test('deaths that the worker saw and leases that ran out count together', async () => {
    const { queue, clock, noticeSeconds } = await openQueue()
    await queue.offer(jobOf(1))
    await queue.crash(await taken(queue), 'index.timeout')
    for (let lost = 2; lost <= JOB_CRASHES; lost++) {
      await taken(queue)
      await clock.advance(SILENT_SECONDS + noticeSeconds)
    }
    expect(await queue.take('next')).toBeNull()
    expect(await queue.offer(jobOf(1))).toMatchObject({ status: 'failed', errorCode: 'index.internal' })
  })

  test('a worker that lost the job counts no crash', async () => {
    const { queue, clock, noticeSeconds } = await openQueue()
    await queue.offer(jobOf(1))
    const lost = await taken(queue, 'first')
    await clock.advance(SILENT_SECONDS + noticeSeconds)
    const held = await taken(queue, 'second')
    await queue.crash(lost, 'index.internal')
    expect(await queue.take('third')).toBeNull()
    expect(await queue.renew(held)).not.toBeNull()
  })

  test('a worker that lost the job cannot hand it back', async () => {
    const { queue, clock, noticeSeconds } = await openQueue()
    await queue.offer(jobOf(1))
    const lost = await taken(queue, 'first')
    await clock.advance(SILENT_SECONDS + noticeSeconds)
    const held = await taken(queue, 'second')
    await queue.release(lost)
    expect(await queue.take('third')).toBeNull()
    expect(await queue.renew(held)).not.toBeNull()
  })

  test('a failed job has its code and time, and is not taken', async () => {
    const { queue, clock, contents } = await openQueue()
    await queue.offer(jobOf(1))
    await queue.fail(await taken(queue), 'index.too_large')
    const retryAt = new Date(clock.now().getTime() + FAILURE_BACKOFF_SECONDS.first * 1000).toISOString()
    const before = await contents()
    expect(await queue.offer(jobOf(1))).toEqual({ status: 'failed', errorCode: 'index.too_large', retryAt })
    expect(await contents()).toEqual(before)
    expect(await queue.take('worker')).toBeNull()
    await clock.advance(FAILURE_BACKOFF_SECONDS.first)
    expect(await queue.take('worker'), 'nobody asked for it again').toBeNull()
  })

  test('once the backoff elapsed the next offer leaves the job again, with a higher fence', async () => {
    const { queue, clock } = await openQueue()
    await queue.offer(jobOf(1))
    const first = await taken(queue)
    await queue.fail(first, 'index.timeout')
    await clock.advance(FAILURE_BACKOFF_SECONDS.first - 0.001)
    expect(await queue.offer(jobOf(1))).toMatchObject({ status: 'failed' })
    await clock.advance(0.001)
    expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
    expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
    expect((await taken(queue)).fence).toBeGreaterThan(first.fence)
    expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
  })

  test('the backoff doubles with each failure, up to its bound, and starts over after a success', async () => {
    const { queue, clock } = await openQueue()
    const failOnce = async () => {
      await queue.offer(jobOf(1))
      await queue.fail(await taken(queue), 'index.timeout')
      const state = await queue.offer(jobOf(1))
      const waitMs = state.status === 'failed' ? Date.parse(state.retryAt) - clock.now().getTime() : Number.NaN
      await clock.advance(waitMs / 1000)
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
    const { queue, clock, noticeSeconds } = await openQueue()
    await queue.offer(jobOf(1))
    const fences: number[] = []
    for (let death = 0; death < JOB_CRASHES; death++) {
      fences.push((await taken(queue, `worker-${death}`)).fence)
      await clock.advance(SILENT_SECONDS + noticeSeconds)
    }
    expect(fences).toEqual([1, 2, 3])
    expect(await queue.take('fourth')).toBeNull()
    expect(await queue.offer(jobOf(1))).toMatchObject({ status: 'failed', errorCode: 'index.internal' })
    await clock.advance(FAILURE_BACKOFF_SECONDS.first)
    expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
    expect((await taken(queue)).fence).toBe(4)
  })

  test('a job with three crashes does not hide the one behind it', async () => {
    const { queue, clock, noticeSeconds } = await openQueue()
    await queue.offer(jobOf(1))
    for (let death = 0; death < JOB_CRASHES; death++) {
      await taken(queue)
      await clock.advance(SILENT_SECONDS + noticeSeconds)
    }
    await queue.offer(jobOf(2))
    expect((await taken(queue)).job).toEqual(jobOf(2))
  })
}
