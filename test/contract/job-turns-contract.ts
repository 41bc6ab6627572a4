import { describe, expect, test } from 'vitest'
import { JOB_TURN_SECONDS, REPOSITORY_JOBS } from '#core/limits.ts'
import type { IndexJob, JobQueue } from '#core/ports/job-queue.ts'
import { type QueueDriver, SILENT_SECONDS, taken } from '#test/support/queue-drivers.ts'
import { jobOf } from '#test/support/store-values.ts'

const INDEXING = { status: 'indexing' }

/** A job of the repository with the first number, at the commit with the second. */
const at = (repository: number, commit: number): IndexJob => ({ ...jobOf(repository), commit: jobOf(commit).commit })
const SIX = [10, 11, 12, 13, 14, 15].map(commit => at(1, commit))

/** The jobs in the order in which one worker after another takes and finishes them. */
async function finishAll(queue: JobQueue): Promise<IndexJob[]> {
  const jobs: IndexJob[] = []
  for (let lease = await queue.take('worker'); lease !== null; lease = await queue.take('worker')) {
    jobs.push(lease.job)
    await queue.finish(lease)
  }
  return jobs
}

async function commitsOf(jobs: IndexJob[] | Promise<IndexJob[]>): Promise<string[]> {
  return (await jobs).map(({ commit }) => commit).sort()
}

/** What every driver does so that no repository holds up another. */
export function jobTurnsContract({ open: openQueue }: QueueDriver): void {
  test('a job is taken before all but one of the earlier jobs of a repository with many', async () => {
    const { queue, another, clock } = await openQueue()
    for (const job of SIX) await queue.offer(job)
    const first = await taken(queue)
    expect(first.job).toEqual(SIX[0])
    await clock.advance(1)
    await queue.offer(jobOf(2))
    await queue.finish(first)
    // The order is part of what is stored: a process that starts now knows it.
    expect(await finishAll(await another())).toEqual([jobOf(2), ...SIX.slice(1)])
  })

  test('one job of a repository runs at a time, for any number of workers, and the next one after its end', async () => {
    const { queue, another, clock } = await openQueue()
    const other = await another()
    for (const job of SIX) await queue.offer(job)
    const first = await taken(queue, 'first')
    expect(await other.take('second')).toBeNull()
    expect(await queue.take('third')).toBeNull()
    await clock.advance(1)
    await other.offer(jobOf(2))
    expect((await taken(other, 'second')).job).toEqual(jobOf(2))
    await queue.fail(first, 'index.too_large')
    const next = await taken(other, 'second')
    expect(next.job).toEqual(SIX[1])
    await other.release(next)
    expect((await taken(queue, 'third')).job).toEqual(SIX[1])
  })

  test('a job whose worker died holds up the others of its repository no longer than itself', async () => {
    const { queue, clock, noticeSeconds } = await openQueue()
    for (const job of SIX.slice(0, 2)) await queue.offer(job)
    await taken(queue, 'doomed')
    await clock.advance(SILENT_SECONDS + noticeSeconds)
    expect(await finishAll(queue)).toEqual(SIX.slice(0, 2))
  })

  test('a job that waited its turn precedes jobs of others that were offered later', async () => {
    const { queue, clock } = await openQueue()
    for (const job of SIX.slice(0, 3)) await queue.offer(job)
    await clock.advance(JOB_TURN_SECONDS + 1)
    await queue.offer(jobOf(2))
    expect(await finishAll(queue)).toEqual([...SIX.slice(0, 2), jobOf(2), SIX[2]])
  })

  test('a repository has a bounded number of jobs, offered at once or not; a later offer adds the others', async () => {
    const { queue, another } = await openQueue()
    const jobs = Array.from({ length: 3 * REPOSITORY_JOBS }, (_, commit) => at(1, commit))
    expect(await Promise.all(jobs.map(job => queue.offer(job)))).toEqual(jobs.map(() => INDEXING))
    expect(await queue.depth()).toBe(REPOSITORY_JOBS)
    const other = await another()
    for (const job of jobs) expect(await other.offer(job)).toMatchObject(INDEXING)
    expect(await queue.depth()).toBe(REPOSITORY_JOBS)
    await queue.offer(jobOf(100))
    expect(await queue.depth()).toBe(REPOSITORY_JOBS + 1)

    const done = new Set<string>()
    while (done.size <= jobs.length) {
      for (const { commit } of await finishAll(queue)) done.add(commit)
      for (const job of jobs) if (!done.has(job.commit)) await queue.offer(job)
      if ((await queue.depth()) === 0) break
    }
    expect(done.size).toBe(jobs.length + 1)
  })

  test('the default branch is next in its repository, for any number of waiting refs, and leaves the other place to others', async () => {
    const { queue, clock } = await openQueue()
    const jobs = Array.from({ length: 2 * REPOSITORY_JOBS }, (_, commit) => at(1, commit))
    for (const job of jobs) await queue.offer(job)
    const running = await taken(queue)
    await clock.advance(1)
    const latest = { ...at(1, 50), isDefault: true } as const
    expect(await queue.offer(latest)).toMatchObject(INDEXING)
    expect(await queue.depth()).toBe(REPOSITORY_JOBS + 1)
    expect(await queue.take('second')).toBeNull()
    await queue.finish(running)
    expect((await taken(queue)).job).toEqual(latest)
    expect(await queue.take('second')).toBeNull()
  })

  test('a commit that waits under another name is next when it becomes that of the default branch', async () => {
    const { queue, clock } = await openQueue()
    for (const job of SIX) await queue.offer(job)
    const running = await taken(queue)
    expect(await queue.take('second')).toBeNull()
    const latest = { ...(SIX[5] as IndexJob), isDefault: true } as const
    await queue.offer(latest)
    await clock.advance(1)
    await queue.offer(latest)
    expect(await queue.depth()).toBe(SIX.length)
    await queue.finish(running)
    expect((await taken(queue)).job).toEqual(latest)
  })

  describe('of the commits of a default branch', () => {
    const latest = (commit: number) => ({ ...at(1, commit), isDefault: true }) as const

    test('the last offered one waits, for any number of earlier ones', async () => {
      const { queue, another } = await openQueue()
      for (let commit = 0; commit < 3 * REPOSITORY_JOBS; commit++)
        expect(await queue.offer(latest(commit))).toMatchObject(INDEXING)
      expect(await queue.depth()).toBe(1)
      expect(await (await another()).offer(latest(50))).toMatchObject(INDEXING)
      expect(await finishAll(queue)).toEqual([latest(50)])
    })

    test('a running one completes, and one waits beside it', async () => {
      const { queue, clock } = await openQueue()
      await queue.offer(latest(10))
      const running = await taken(queue)
      for (const commit of [11, 12, 13]) await queue.offer(latest(commit))
      expect(await queue.depth()).toBe(2)
      await clock.advance(1)
      expect(await queue.renew(running)).not.toBeNull()
      expect(await queue.offer(latest(10))).toMatchObject(INDEXING)
      expect(await queue.take('second')).toBeNull()
      await queue.finish(running)
      expect(await finishAll(queue)).toEqual([latest(13)])
    })

    test('a superseded one that another worker still lists is not started, and delays no other', async () => {
      const { queue, another } = await openQueue()
      const other = await another()
      await queue.offer(at(1, 9))
      await queue.offer(latest(10))
      const running = await taken(other)
      expect(await other.take('second')).toBeNull()
      await queue.offer(latest(11))
      await other.finish(running)
      const left = [at(1, 9), at(1, 11)].filter(({ commit }) => commit !== running.job.commit)
      expect(await commitsOf(finishAll(other))).toEqual(await commitsOf(left))
      expect(await queue.depth()).toBe(0)
    })

    test('a new one takes the turn of the waiting one: frequent pushes do not delay it', async () => {
      const { queue, clock } = await openQueue()
      await queue.offer(latest(10))
      await clock.advance(5)
      await queue.offer(jobOf(2))
      await clock.advance(5)
      await queue.offer(latest(11))
      expect(await finishAll(queue)).toEqual([latest(11), jobOf(2)])
    })

    test('a superseded one supersedes nothing: it is queued like one of any other ref', async () => {
      const { queue, another } = await openQueue()
      const stale = await another()
      await stale.offer(latest(10))
      for (const commit of [11, 12]) await queue.offer(latest(commit))
      for (const commit of [10, 12, 10, 11, 12]) expect(await stale.offer(latest(commit))).toMatchObject(INDEXING)
      expect(await queue.depth()).toBe(3)
      const running = await taken(queue)
      expect(running.job).toEqual(latest(12))
      await stale.offer(latest(10))
      await queue.finish(running)
      expect(await commitsOf(finishAll(queue))).toEqual(await commitsOf([at(1, 10), at(1, 11)]))
    })

    test('a superseded one supersedes nothing, even after the superseding job ended, if a newer one waits', async () => {
      const { queue, another } = await openQueue()
      const stale = await another()
      await stale.offer(latest(10))
      await queue.offer(latest(11))
      const middle = await taken(queue)
      expect(middle.job).toEqual(latest(11))
      await queue.offer(latest(12))
      await queue.finish(middle)
      for (const commit of [10, 11, 12]) expect(await stale.offer(latest(commit))).toMatchObject(INDEXING)
      expect(await queue.depth()).toBe(3)
      const running = await taken(queue)
      expect(running.job).toEqual(latest(12))
      await queue.finish(running)
      expect(await commitsOf(finishAll(queue))).toEqual(await commitsOf([at(1, 10), at(1, 11)]))
    })

    test('an older one that no job remembers removes the newer one, and the next offer adds that again', async () => {
      const { queue, another } = await openQueue()
      const stale = await another()
      await queue.offer(latest(11))
      await stale.offer(latest(10))
      expect(await queue.depth()).toBe(1)
      for (const commit of [11, 10, 11]) expect(await queue.offer(latest(commit))).toMatchObject(INDEXING)
      expect(await finishAll(queue)).toEqual([latest(10), at(1, 11)])
    })

    test('one that waits under another name keeps its waiting time', async () => {
      const { queue, clock } = await openQueue()
      await queue.offer(at(1, 10))
      await clock.advance(5)
      await queue.offer(jobOf(2))
      await clock.advance(5)
      await queue.offer(latest(10))
      expect(await finishAll(queue)).toEqual([latest(10), jobOf(2)])
    })

    test('one that waits under another name supersedes the others, too; what was offered under a name stays', async () => {
      const { queue } = await openQueue()
      await queue.offer(at(1, 20))
      await queue.offer(at(1, 21))
      await queue.offer(latest(10))
      await queue.offer(latest(21))
      expect(await queue.depth()).toBe(2)
      expect(await commitsOf(finishAll(queue))).toEqual(await commitsOf([at(1, 20), at(1, 21)]))
    })
  })
}
