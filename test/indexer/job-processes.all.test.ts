import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { LEASE_SECONDS } from '#core/limits.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { headerKey } from '#core/snapshot/store-keys.ts'
import { startWorker } from '#indexer/jobs/worker.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { systemClock } from '#infra/system/system.ts'
import { until } from '#test/support/until.ts'
import { openProcessesScene, type ProcessesOptions, yields } from './job-processes-scene.ts'

let scene: Awaited<ReturnType<typeof openProcessesScene>>
beforeAll(async () => {
  scene = await openProcessesScene()
})
afterAll(() => scene.close())

/** Nobody wakes the worker of a test. With the pauses of a deployment most of the time would be spent waiting for its next look. */
const REST_MS = 20

interface Options extends ProcessesOptions {
  /** The worker's documents; those of the jobs are as they are. */
  states?: (states: StateStore) => StateStore
  /** What cannot be told to the queue ends with the lease. Default: longer than any machine keeps the worker from renewing it. */
  leaseSeconds?: number
}

/** A worker in this process, with real processes for its jobs, until the test ends. */
async function openWorker({ states: wrap = states => states, leaseSeconds = LEASE_SECONDS, ...options }: Options = {}) {
  const { blobs, states, metrics, log, note, logged, processes } = await scene.open(options)
  const queue = createStateQueue(states, systemClock)
  const stopping = new AbortController()
  const deps = {
    queue: createStateQueue(wrap(states), systemClock, leaseSeconds),
    runner: processes,
    metrics,
    log: { info: note, warn: note, error: note },
  }
  const worker = startWorker(deps, { concurrency: 2, signal: stopping.signal, rest: () => REST_MS })
  const stop = async () => {
    stopping.abort(new Error('the test is over'))
    await worker.stopped
  }
  onTestFinished(async () => {
    await stop()
    await states.close()
    await blobs.close()
  })
  return {
    queue,
    log,
    stop,
    wake: worker.wake,
    isIndexed: async ({ repository, commit }: IndexJob) => (await blobs.read(headerKey(repository, commit))) !== null,
    metrics: async () => (await metrics.read()).text,
    /** Processes that began so far, and those that are there. */
    started: () => logged('job process ready'),
    alive: async () => Number(/^mountglass_job_processes (\d+)$/m.exec((await metrics.read()).text)?.[1]),
  }
}

test.each([
  ['time', { wallSeconds: 1, processorSeconds: Number.POSITIVE_INFINITY }],
  ['processor time', { wallSeconds: Number.POSITIVE_INFINITY, processorSeconds: 0.5 }],
])('a job that hangs with a blocked event loop is ended after too much %s; the third time it fails', async (_, kill) => {
  const { queue, log, metrics } = await openWorker({ settings: { kill } })
  const hanging = await scene.jobOf('hangs')
  await queue.offer(hanging)
  await until(async () => (await queue.depth()) === 0)
  expect(await queue.offer(hanging)).toMatchObject({ status: 'failed', errorCode: 'index.timeout' })
  expect(log.filter(({ message }) => message === 'the job process died')).toMatchObject(
    [1, 2, 3].map(() => ({ reason: 'time', stage: null, errorCode: 'index.timeout' })),
  )
  const lines = (await metrics()).split('\n')
  expect(lines).toContain('mountglass_jobs_total{outcome="crashed",code="index.timeout"} 3')
  expect(lines).toContain('mountglass_job_process_ends_total{reason="time"} 3')
})

test('a process that was let go and does not end is killed, and has ended as planned', async () => {
  const { queue, log, stop, isIndexed } = await openWorker()
  const lingering = await scene.jobOf('lingers')
  await queue.offer(lingering)
  await until(() => isIndexed(lingering))
  await stop()
  const killed = log.filter(({ message, signal }) => message === 'job process ended' && signal === 'SIGKILL')
  expect(killed).not.toEqual([])
  // On a busy machine its job may have been long.
  for (const { reason } of killed) expect(['stopped', 'slow']).toContain(reason)
})

test('a job whose process has not started when the worker stops is stopped, without an error', async () => {
  const { processes, close } = await scene.open({})
  onTestFinished(close)
  const signal = AbortSignal.timeout(1)
  const job = await scene.jobOf('one')
  expect(await processes.run(job, { signal, onStage: () => {} })).toEqual({ status: 'stopped' })
})

test('the memory of processes started by a job counts as its memory', async () => {
  const { queue, log } = await openWorker({ settings: { memoryMegabytes: 384 } })
  const job = await scene.jobOf('eats-elsewhere')
  await queue.offer(job)
  await until(async () => (await queue.depth()) === 0)
  expect(await queue.offer(job)).toMatchObject({ status: 'failed', errorCode: 'index.internal' })
  const died = log.filter(({ message }) => message === 'the job process died')
  expect(died.map(({ reason }) => reason)).toEqual(['memory', 'memory', 'memory'])
})

test('a kept process that died before it began a job does not count against the job: another one runs it', async () => {
  const { processes, logged, close } = await scene.open({})
  onTestFinished(close)
  const [job, { signal }] = [await scene.jobOf('one'), new AbortController()]
  await processes.ready(signal)
  // In one turn: that it is gone is not known here yet.
  process.kill(logged('job process ready')[0] ?? Number.NaN, 'SIGKILL')
  expect(await processes.run(job, { signal, onStage() {} })).toMatchObject({ status: 'indexed' })
})

test('a failed job has the code and the stack of its place', async () => {
  const { queue, log } = await openWorker()
  const { repository } = await scene.jobOf('one')
  const absent = { repository, commit: '0'.repeat(40) as IndexJob['commit'] }
  await queue.offer(absent)
  await until(async () => (await queue.depth()) === 0)
  expect(await queue.offer(absent)).toMatchObject({ status: 'failed', errorCode: 'index.fetch_failed' })
  const failed = log.find(({ message }) => message === 'indexing failed')
  expect(failed).toMatchObject({
    repository: 'local/acme/one',
    stage: 'open',
    errorCode: 'index.fetch_failed',
    err: { stack: expect.stringMatching(/^ReadError: .+\n\s+at /) },
  })
})

test('while no process can start, no job is taken', async () => {
  const { queue, log, stop } = await openWorker({ env: { MOUNTGLASS_STORE: 'memory:' } })
  await queue.offer(await scene.jobOf('one'))
  await until(() => log.filter(({ message }) => message === 'cannot take a job from the queue').length >= 2)
  await stop()
  expect((await queue.take('another'))?.fence).toBe(1)
})

test('a worker outlives documents that fail, and every job is done without a death', async () => {
  let requests = 0
  const failing = <Args extends unknown[], Result>(request: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      if (requests++ % 5 === 2) throw new Error('the store is away')
      return request(...args)
    }
  }
  const { queue, log, isIndexed } = await openWorker({
    leaseSeconds: 3,
    states: states => ({
      ...states,
      read: failing(states.read),
      create: failing(states.create),
      replace: failing(states.replace),
      remove: failing(states.remove),
      list: failing(states.list),
    }),
  })
  const jobs = [await scene.jobOf('one'), await scene.jobOf('two'), await scene.jobOf('three')]
  for (const job of jobs) await queue.offer(job)
  await until(async () => (await queue.depth()) === 0)
  expect(await Promise.all(jobs.map(isIndexed))).toEqual([true, true, true])
  expect(log.filter(({ message }) => message === 'the job process died')).toEqual([])
})

test('processes are reused, and surplus ones are ended', async () => {
  const { queue, started, alive } = await openWorker({ settings: { idleMilliseconds: 0, concurrency: 1 } })
  await queue.offer(await scene.jobOf('one'))
  await queue.offer(await scene.jobOf('two'))
  await until(async () => (await queue.depth()) === 0)
  await until(async () => (await alive()) === 1)
  const before = started()
  await queue.offer(await scene.jobOf('three'))
  await until(async () => (await queue.depth()) === 0)
  expect(started()).toEqual(before)
})

test('before any job, a process starts for the one beside a long job, and both are kept', async () => {
  const { queue, started, alive } = await openWorker({ settings: { idleMilliseconds: 0 } })
  await until(async () => (await alive()) === 2)
  expect(started()).toHaveLength(2)
  await queue.offer(await scene.jobOf('hangs'))
  await queue.offer(await scene.jobOf('one'))
  await until(async () => (await queue.depth()) === 1)
  expect(started()).toHaveLength(2)
})

test('a job that becomes long gets a lower priority, and its process is replaced after it', async () => {
  const { queue, log, started, alive } = await openWorker()
  await until(async () => (await alive()) === 2)
  const usual = started()
  await queue.offer(await scene.jobOf('dawdles'))
  await until(() => usual.some(yields))
  await until(() => log.some(({ message, reason }) => message === 'job process ended' && reason === 'slow'))
  await until(async () => (await alive()) === 2)
  expect(started()).toHaveLength(3)
})

test('a process with much memory after its job is replaced', async () => {
  // More than half of this is held by any process.
  const { queue, log } = await openWorker({ settings: { memoryMegabytes: 192 } })
  await queue.offer(await scene.jobOf('one'))
  await until(() => log.some(({ message, reason }) => message === 'job process ended' && reason === 'large'))
  await queue.offer(await scene.jobOf('two'))
  await until(async () => (await queue.depth()) === 0)
})
