import { expect, test } from 'vitest'
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

/** What every driver does so that no repository holds up another. */
export function jobTurnsContract({ open: openQueue }: QueueDriver): void {
  test('a job is taken before all but one of the jobs of a repository that came before it with many', async () => {
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

  test('one job of a repository runs at a time, whichever worker asks, and the next one once that ended', async () => {
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

  test('a job that waited its turn comes before those of others that were offered later', async () => {
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
    for (const job of jobs) expect(await other.offer(job)).toEqual(INDEXING)
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

  test('the default branch comes next in its repository, however many refs wait, and leaves the other place to others', async () => {
    const { queue, clock } = await openQueue()
    const jobs = Array.from({ length: 2 * REPOSITORY_JOBS }, (_, commit) => at(1, commit))
    for (const job of jobs) await queue.offer(job)
    const running = await taken(queue)
    await clock.advance(1)
    const latest = { ...at(1, 50), isDefault: true } as const
    expect(await queue.offer(latest)).toEqual(INDEXING)
    expect(await queue.depth()).toBe(REPOSITORY_JOBS + 1)
    expect(await queue.take('second')).toBeNull()
    await queue.finish(running)
    expect((await taken(queue)).job).toEqual(latest)
    expect(await queue.take('second')).toBeNull()
  })

  test('a commit that waits under another name, and becomes that of the default branch, comes next', async () => {
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
}
