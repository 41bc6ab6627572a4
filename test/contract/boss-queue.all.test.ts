import { describe, expect, onTestFinished, test } from 'vitest'
import { FAILURE_BACKOFF_SECONDS, JOB_CRASHES } from '#core/limits.ts'
import type { JobQueue, Lease } from '#core/ports/job-queue.ts'
import { jobKey } from '#core/snapshot/store-keys.ts'
import { openDatabase } from '#infra/postgres/database.ts'
import { openPostgresStateStore } from '#infra/postgres/state-store.ts'
import { NOTICE_SECONDS, openBossQueue } from '#infra/queue/boss-queue.ts'
import { systemClock } from '#infra/system/system.ts'
import { openBossDatabase, SILENT_SECONDS, type Through, taken } from '#test/support/queue-drivers.ts'
import { createDatabase, query, startOwnPostgres } from '#test/support/servers/postgres.ts'
import { hasServer } from '#test/support/servers/servers.ts'
import { jobOf } from '#test/support/store-values.ts'
import { until } from '#test/support/until.ts'

const INDEXING = { status: 'indexing' }
/** After this time without a word another worker is given the job, too. */
const NOTICED_SECONDS = SILENT_SECONDS + NOTICE_SECONDS + 1

async function openQueue(url: string, onWarning: (message: string) => void = () => {}): Promise<JobQueue> {
  const database = openDatabase(url)
  const states = await openPostgresStateStore(database)
  onTestFinished(() => states.close())
  const queue = await openBossQueue({ db: { executeSql: database.run }, states, clock: systemClock, onWarning })
  onTestFinished(() => queue.close())
  return queue
}

async function emptyDatabase(): Promise<string> {
  const { url, remove } = await createDatabase()
  onTestFinished(remove)
  return url
}

function jobs(url: string): Promise<Record<string, unknown>[]> {
  return query(url, 'SELECT id, state::text, data, singleton_key FROM mountglass_jobs.job')
}

describe.runIf(hasServer('postgres'))('a process that dies', () => {
  /** A process that dies at a statement: that one is run or not, and none behind it. */
  function dying() {
    let left = Number.POSITIVE_INFINITY
    let isLastRun = false
    const through: Through = run => async (statement, values) => {
      left--
      if (left > 0) return run(statement, values)
      if (left === 0 && isLastRun) await run(statement, values)
      throw new Error('dead')
    }
    return {
      through,
      /** @param at number of the statement, from now on */
      dieAt(at: number, isRun: boolean) {
        left = at
        isLastRun = isRun
      },
      /** What its own clock and its end need, which no process does that dies. */
      bury() {
        left = Number.POSITIVE_INFINITY
      },
    }
  }

  async function openDoomed() {
    const opened = await openBossDatabase()
    const death = dying()
    const doomed = await opened.open(death.through)
    return {
      ...opened,
      queue: await opened.open(),
      doomed,
      /** Has it do something until it dies at the statement of that number. */
      async dieDuring(work: () => Promise<void>, at: number, isRun: boolean) {
        // What the queue does in the background at its start is over then.
        await opened.clock.advance(0)
        death.dieAt(at, isRun)
        await work().then(
          () => expect('alive').toBe('dead'),
          error => expect(error.message).toBe('dead'),
        )
        death.bury()
        await doomed.close()
        await opened.clock.advance(NOTICED_SECONDS)
      },
    }
  }

  async function live(queue: JobQueue, end: (lease: Lease) => Promise<void>): Promise<void> {
    await queue.offer(jobOf(1))
    const lease = await queue.take('worker')
    if (lease !== null) await end(lease)
  }

  const deathsAt = (statements: number[]) => statements.flatMap(at => [true, false].map(isRun => ({ at, isRun })))

  // Leaving a job takes 2 statements, taking it 4, finishing it 4, failing it 3.

  test.each(deathsAt([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))(
    'while it finishes a job, at statement $at (run: $isRun): the job comes to its end',
    async ({ at, isRun }) => {
      const { queue, doomed, dieDuring, url, states } = await openDoomed()
      await dieDuring(() => live(doomed, lease => doomed.finish(lease)), at, isRun)
      await live(queue, lease => queue.finish(lease))
      expect([await jobs(url), await states.list('')]).toEqual([[], []])
    },
  )

  test.each(deathsAt([7, 8, 9]))(
    'while it fails a job, at statement $at (run: $isRun): a visitor can have it again',
    async ({ at, isRun }) => {
      const { queue, doomed, dieDuring, url, clock, states } = await openDoomed()
      await dieDuring(() => live(doomed, lease => doomed.fail(lease, 'index.timeout')), at, isRun)
      if ((await queue.offer(jobOf(1))).status === 'failed') {
        // Nothing that the dead process left starts the job before its time.
        expect(await queue.take('early')).toBeNull()
        expect(await jobs(url)).toEqual([])
        await clock.advance(FAILURE_BACKOFF_SECONDS.first)
        expect(await queue.take('nobody asked')).toBeNull()
        expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
      }
      await queue.finish(await taken(queue))
      expect([await jobs(url), await states.list('')]).toEqual([[], []])
    },
  )

  test.each(deathsAt([1, 2, 3]))(
    'while it hands a job back, at statement $at (run: $isRun): another takes it',
    async ({ at, isRun }) => {
      const { queue, doomed, dieDuring, url, states } = await openDoomed()
      await doomed.offer(jobOf(1))
      const lease = await taken(doomed)
      await dieDuring(() => doomed.release(lease), at, isRun)
      await queue.finish(await taken(queue))
      expect([await jobs(url), await states.list('')]).toEqual([[], []])
    },
  )
})

describe.runIf(hasServer('postgres'))('a worker whose database fails once', () => {
  /** A queue whose database fails once at each step of an end, when told to. */
  async function openStumbling() {
    const opened = await openBossDatabase()
    let left = Number.POSITIVE_INFINITY
    let isRun = false
    const queue = await opened.open(run => async (statement, values) => {
      if (--left !== 0) return run(statement, values)
      if (isRun) await run(statement, values)
      throw new Error('away')
    })
    const failOnce = async (work: () => Promise<unknown>, at: number, isLastRun: boolean) => {
      // What the queue does in the background at its start is over then.
      await opened.clock.advance(0)
      left = at
      isRun = isLastRun
      await expect(work()).rejects.toThrow('away')
    }
    return {
      ...opened,
      queue,
      failOnce,
      async tellTwice(tell: () => Promise<void>, at: number, isLastRun: boolean) {
        await failOnce(tell, at, isLastRun)
        await tell()
      },
    }
  }

  test.each([true, false])("a job that was taken just before is another's at once (run: %s)", async isRun => {
    const { queue, failOnce, states } = await openStumbling()
    await queue.offer(jobOf(1))
    // It is fetched, its record read and written, and then marked as begun.
    await failOnce(() => queue.take('unlucky'), 4, isRun)
    expect(await taken(queue)).toMatchObject({ fence: 2 })
    expect((await states.read(jobKey(jobOf(1).repository, jobOf(1).commit)))?.value).toMatchObject({ crashes: 0 })
  })

  // The record is read and written, then the job of pg-boss changes.
  const failures = [1, 2, 3].flatMap(at => [true, false].map(isRun => ({ at, isRun })))

  test.each(failures)(
    "a job that is handed back again is another's at once (at statement $at, run: $isRun)",
    async ({ at, isRun }) => {
      const { queue, tellTwice } = await openStumbling()
      await queue.offer(jobOf(1))
      const lease = await taken(queue)
      await tellTwice(() => queue.release(lease), at, isRun)
      expect(await taken(queue, 'other')).toMatchObject({ fence: 2 })
    },
  )

  test.each(failures)(
    'a crash that is reported twice counts once, and the job waits at once (at statement $at, run: $isRun)',
    async ({ at, isRun }) => {
      const { queue, tellTwice, url } = await openStumbling()
      await queue.offer(jobOf(1))
      for (let death = 1; death <= JOB_CRASHES; death++) {
        const lease = await taken(queue)
        expect(lease.fence).toBe(death)
        await tellTwice(() => queue.crash(lease, 'index.timeout'), at, isRun)
      }
      expect(await queue.offer(jobOf(1))).toMatchObject({ status: 'failed', errorCode: 'index.timeout' })
      expect(await jobs(url)).toEqual([])
    },
  )

  test.each(failures)('a job whose failure is reported twice is gone (at statement $at, run: $isRun)', async ({ at, isRun }) => {
    const { queue, tellTwice, url } = await openStumbling()
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    await tellTwice(() => queue.fail(lease, 'index.timeout'), at, isRun)
    expect(await queue.offer(jobOf(1))).toMatchObject({ status: 'failed', errorCode: 'index.timeout' })
    expect(await jobs(url)).toEqual([])
  })
})

describe.runIf(hasServer('postgres'))('index jobs delivered by pg-boss', () => {
  test('16 openings of an empty database at once make its tables once', async () => {
    const url = await emptyDatabase()
    const queues = await Promise.all(Array.from({ length: 16 }, () => openQueue(url)))
    await Promise.all(queues.map((queue, number) => queue.offer(jobOf(number % 4))))
    expect(await queues[0]?.depth()).toBe(4)
  })

  test('a finished job that was delivered to a slow worker is not started again', async () => {
    const { open, clock, url, states } = await openBossDatabase()
    const queue = await open()
    await queue.offer(jobOf(1))
    const lease = await taken(queue)
    await clock.advance(NOTICED_SECONDS)
    // The job is delivered to the slow worker, and ends before that reads on.
    let finished = false
    const slow = await open(run => async (statement, values) => {
      if (!finished && values?.[0] === jobKey(jobOf(1).repository, jobOf(1).commit)) {
        finished = true
        await queue.finish(lease)
      }
      return run(statement, values)
    })
    expect(await slow.take('slow')).toBeNull()
    expect(finished).toBe(true)
    expect([await jobs(url), await states.list('')]).toEqual([[], []])
  })

  test('a job that is delivered although another worker holds it waits for that worker', async () => {
    const { open, clock, url } = await openBossDatabase()
    const queue = await open()
    await queue.offer(jobOf(1))
    let lease = await taken(queue)
    for (let turn = 0; turn < 5; turn++) {
      // The worker was silent for too long, and is there after all.
      await clock.advance(NOTICED_SECONDS)
      lease = (await queue.renew(lease)) ?? lease
      expect(await queue.take('other')).toBeNull()
      expect(await queue.take('other')).toBeNull()
      expect(await jobs(url)).toMatchObject([{ state: 'retry' }])
    }
    await clock.advance(NOTICED_SECONDS)
    expect(await taken(queue, 'other')).toMatchObject({ fence: 2 })
    expect(await queue.renew(lease)).toBeNull()
  })

  test('a job that no worker can parse is removed, and hides none behind it', async () => {
    const { open, url } = await openBossDatabase()
    const queue = await open()
    await queue.offer(jobOf(1))
    await query(url, `UPDATE mountglass_jobs.job SET data = '"nonsense"'`)
    await queue.offer(jobOf(2))
    expect((await taken(queue)).job).toEqual(jobOf(2))
    expect(await jobs(url)).toHaveLength(1)
  })

  test('a job that an operator cancelled may be offered again', async () => {
    const { open, url } = await openBossDatabase()
    const queue = await open()
    await queue.offer(jobOf(1))
    await query(url, `UPDATE mountglass_jobs.job SET state = 'cancelled'`)
    expect(await queue.depth()).toBe(0)
    expect(await queue.offer(jobOf(1))).toMatchObject(INDEXING)
    expect((await taken(queue)).job).toEqual(jobOf(1))
  })

  test('a private repository has separate jobs, under keys that no public repository has', async () => {
    const { open, url } = await openBossDatabase()
    const queue = await open()
    const { repository, commit } = jobOf(1)
    await queue.offer({ repository, commit })
    await queue.offer({ repository: { ...repository, visibility: 'private' }, commit })
    const keys = (await jobs(url)).map(job => String(job.singleton_key).split('/')[2])
    expect(keys.sort()).toEqual(['prv', 'pub'])
  })

  test('a database outage is reported once, and the queue continues after it', async () => {
    const server = await startOwnPostgres()
    onTestFinished(() => server.remove())
    const warnings: string[] = []
    const queue = await openQueue(server.url, message => warnings.push(message))
    await queue.offer(jobOf(1))
    await server.end('crashed')
    for (const ask of [() => queue.offer(jobOf(2)), () => queue.take('worker'), () => queue.depth()])
      await expect(ask()).rejects.toThrow('the database cannot be reached')
    // pg-boss looks for silent workers.
    await until(() => warnings.length > 0)
    await server.start()
    expect((await taken(queue)).job).toEqual(jobOf(1))
    expect(await queue.offer(jobOf(2))).toMatchObject(INDEXING)
    // What is told first depends on whether a look was under way when it went.
    expect(warnings).toEqual([expect.stringMatching(/^job queue: the database (cannot be reached|ended the connection)/)])
  })
})
