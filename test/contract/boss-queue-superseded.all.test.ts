import { describe, expect, test } from 'vitest'
import type { IndexJob, JobQueue, Lease } from '#core/ports/job-queue.ts'
import { openBossDatabase, taken } from '#test/support/queue-drivers.ts'
import { query } from '#test/support/servers/postgres.ts'
import { hasServer } from '#test/support/servers/servers.ts'
import { jobOf } from '#test/support/store-values.ts'

/** A job of the default branch of one repository. */
const defaultAt = (number: number) => ({ ...jobOf(1), commit: jobOf(number).commit, isDefault: true }) as const

async function finishAll(queue: JobQueue): Promise<IndexJob[]> {
  const jobs: IndexJob[] = []
  for (let lease = await queue.take('worker'); lease !== null; lease = await queue.take('worker')) {
    jobs.push(lease.job)
    await queue.finish(lease)
  }
  return jobs
}

describe.runIf(hasServer('postgres'))('a job of the default branch that pg-boss delivers', () => {
  test('is not removed by a newer commit if a worker has begun it', async () => {
    const { open, url } = await openBossDatabase()
    const queue = await open()
    await queue.offer(defaultAt(1))
    let begun: Lease | null = null
    const slow = await open(run => async (statement, values) => {
      if (begun === null && /\bDELETE\b/i.test(String(statement))) begun = await taken(queue)
      return run(statement, values)
    })
    await slow.offer(defaultAt(2))
    expect(begun).toMatchObject({ job: defaultAt(1) })
    const states = await query(url, 'SELECT state::text FROM mountglass_jobs.job')
    expect(states.map(({ state }) => state).sort()).toEqual(['active', 'created'])
    await queue.release(begun as unknown as Lease)
    expect(await finishAll(queue)).toEqual(expect.arrayContaining([defaultAt(1), defaultAt(2)]))
  })

  // It reads its entry, the jobs of the repository and their entries, looks up the queue, sends itself, and deletes the other.
  test.each([1, 2, 3, 4, 5, 6, 7])(
    'waits, or its successor does, when the process that offers a newer commit dies before its statement %i',
    async at => {
      const { open, clock } = await openBossDatabase()
      const queue = await open()
      await queue.offer(defaultAt(1))
      let left = Number.POSITIVE_INFINITY
      const doomed = await open(run => async (statement, values) => {
        if (--left <= 0) throw new Error('dead')
        return run(statement, values)
      })
      // What the queue does in the background at its start is over then.
      await clock.advance(0)
      left = at
      await doomed.offer(defaultAt(2)).catch((error: Error) => expect(error.message).toBe('dead'))
      left = Number.POSITIVE_INFINITY
      expect(await queue.depth()).toBeGreaterThan(0)
      await queue.offer(defaultAt(2))
      expect(await finishAll(queue)).toContainEqual(defaultAt(2))
    },
  )
})
