import { expect, onTestFinished, test } from 'vitest'
import type { IndexJob, JobQueue } from '#core/ports/job-queue.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import type { JobRunner } from '#indexer/jobs/job-runner.ts'
import { startWorker } from '#indexer/jobs/worker.ts'
import { createMemoryStateStore } from '#infra/memory/state-store.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { systemClock } from '#infra/system/clock.ts'
import { jobOf } from '#test/support/store-values.ts'
import { until } from '#test/support/until.ts'

const LOG = { info() {}, warn() {}, error() {} }

/** A worker for two jobs at once, whose jobs run until they are ended, and what it did, in order. */
async function openWorker() {
  const events: string[] = []
  const jobs = createStateQueue(createMemoryStateStore(), systemClock)
  const queue: JobQueue = {
    ...jobs,
    async depth() {
      events.push('asked')
      return jobs.depth()
    },
  }
  const ends: (() => void)[] = []
  const runner: JobRunner = {
    async ready() {
      events.push('prepared')
    },
    run: ({ commit }) => {
      events.push(`started ${commit.slice(0, 4)}`)
      return new Promise(resolve => ends.push(() => resolve({ status: 'indexed', objects: 1, bytes: 1 })))
    },
    async close() {},
  }
  const stopping = new AbortController()
  const worker = startWorker({ queue, runner, metrics: NO_METRICS, log: LOG }, { concurrency: 2, signal: stopping.signal })
  onTestFinished(async () => {
    for (const end of ends) end()
    stopping.abort()
    await worker.stopped
  })
  const offer = async (job: IndexJob) => {
    await queue.offer(job)
    worker.wake(job)
  }
  return { offer, events }
}

const started = (job: IndexJob) => `started ${job.commit.slice(0, 4)}`

test('after the start of a job, a worker asks whether another one waits before it prepares for it', async () => {
  const job = jobOf(1)
  const { offer, events } = await openWorker()
  await offer(job)
  await until(() => events.includes('asked'))
  const from = events.indexOf(started(job))
  expect(events.slice(from, from + 2)).toEqual([started(job), 'asked'])
})

test('jobs that wait together run together', async () => {
  const jobs = [jobOf(1), jobOf(2)]
  const { offer, events } = await openWorker()
  await Promise.all(jobs.map(offer))
  await until(() => jobs.every(job => events.includes(started(job))))
  expect(events.filter(event => event.startsWith('started')).sort()).toEqual(jobs.map(started).sort())
})
