import { expect, onTestFinished, test } from 'vitest'
import type { IndexJob } from '#core/ports/job-queue.ts'
import { NO_METRICS } from '#core/ports/metrics.ts'
import type { JobRunner } from '#indexer/jobs/job-runner.ts'
import { startWorker } from '#indexer/jobs/worker.ts'
import { createMemoryStateStore } from '#infra/memory/state-store.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { systemClock } from '#infra/system/clock.ts'
import { jobOf } from '#test/support/store-values.ts'
import { until } from '#test/support/until.ts'

const LOG = { info() {}, warn() {}, error() {} }

/** A worker for two jobs at once, whose jobs run until they are ended, and which jobs it started. */
async function openWorker() {
  const started: string[] = []
  const queue = createStateQueue(createMemoryStateStore(), systemClock)
  const ends: (() => void)[] = []
  const runner: JobRunner = {
    async ready() {},
    run: ({ commit }) => {
      started.push(commit)
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
  return { offer, started }
}

test('jobs that wait together run together', async () => {
  const jobs = [jobOf(1), jobOf(2)]
  const { offer, started } = await openWorker()
  await Promise.all(jobs.map(offer))
  await until(() => started.length === jobs.length)
  expect(started.sort()).toEqual(jobs.map(({ commit }) => commit).sort())
})
