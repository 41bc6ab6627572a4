import { getPriority } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { YIELDING_NICENESS } from '#core/concurrency/priority.ts'
import type { GitHost } from '#core/ports/git-host.ts'
import type { IndexJob } from '#core/ports/job-queue.ts'
import type { StateStore } from '#core/ports/state-store.ts'
import { headerKey } from '#core/snapshot/store-keys.ts'
import { AHEAD } from '#indexer/jobs/ahead.ts'
import { startJobProcess } from '#indexer/jobs/job-process.ts'
import { createJobProcesses, type JobProcessesSettings } from '#indexer/jobs/job-processes.ts'
import { startWorker } from '#indexer/jobs/worker.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openDiskStateStore } from '#infra/disk/state-store.ts'
import { openLocalHost } from '#infra/local/host.ts'
import { createPrometheusMetrics } from '#infra/monitoring/prometheus.ts'
import { createStateQueue } from '#infra/queue/state-queue.ts'
import { systemClock } from '#infra/system/clock.ts'
import { jobAt } from '#test/support/answered.ts'
import { NO_HANDOVER } from '#test/support/no-handover.ts'
import { programEnvironment } from '#test/support/program-environment.ts'
import { createRepositories, type TestRepositories } from '#test/support/repository.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'
import { until } from '#test/support/until.ts'

const HOSTILE = new URL('../support/hostile-jobs.ts', import.meta.url).href

let repositories: TestRepositories
let host: GitHost

beforeAll(async () => {
  repositories = await createRepositories()
  for (const name of ['one', 'two', 'three', 'hangs', 'dawdles', 'eats-elsewhere']) {
    await (await repositories.create('acme', name)).commit({ 'a.md': `# ${name}\n` })
  }
  host = await openLocalHost({ root: repositories.root, baseUrl: 'http://127.0.0.1' })
})
afterAll(async () => {
  await host.close()
  await repositories.remove()
})

/** Nobody wakes the worker of a test. With the pauses of a deployment most of the time would be spent waiting for its next look. */
const REST_MS = 20

/** As a deployment begins: a second process starts when nothing is to be done. */
const PREPARED = { [AHEAD]: 'on' }

interface Options {
  settings?: Partial<JobProcessesSettings>
  env?: Record<string, string>
  /** The worker's documents; those of the jobs are as they are. */
  states?: (states: StateStore) => StateStore
}

/** Real processes for jobs over a folder, and what they log. */
async function openProcesses({ settings = {}, env = {} }: Options) {
  const folder = await temporaryFolder()
  const blobs = await openDiskBlobStore(folder)
  const states = await openDiskStateStore(join(folder, 'documents.sqlite'))
  const metrics = createPrometheusMetrics()
  const log: { message: string; [field: string]: unknown }[] = []
  const note = (fields: object, message: string) => log.push({ ...fields, message })
  const processes = createJobProcesses(
    {
      env: {
        ...programEnvironment(),
        MOUNTGLASS_STORE: `disk:${folder}`,
        MOUNTGLASS_LOCAL_REPOSITORIES: repositories.root,
        MOUNTGLASS_GITHUB: 'off',
        NODE_OPTIONS: `--import ${HOSTILE}`,
        ...env,
      },
      handover: () => NO_HANDOVER,
      memoryMegabytes: 1_024,
      metrics,
      concurrency: 2,
      ...settings,
    },
    { info: note, warn: note, error: note },
  )
  return { blobs, states, metrics, log, note, processes }
}

/** A worker in this process, with real processes for its jobs, until the test ends. */
async function openWorker({ states: wrap = states => states, ...options }: Options = {}) {
  const { blobs, states, metrics, log, note, processes } = await openProcesses(options)
  const queue = createStateQueue(states, systemClock)
  const stopping = new AbortController()
  const deps = {
    queue: createStateQueue(wrap(states), systemClock, 3),
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
    started: () => log.filter(({ message }) => message === 'job process ready').length,
    alive: async () => Number(/^mountglass_job_processes (\d+)$/m.exec((await metrics.read()).text)?.[1]),
  }
}

const jobOf = (name: string): Promise<IndexJob> => jobAt(host, 'acme', name)

test('a job that hangs without a turn for anything is ended from outside; the third time it fails for lack of time', async () => {
  const { queue, log, isIndexed, metrics } = await openWorker({ settings: { wallSeconds: 3 } })
  const [hanging, plain] = [await jobOf('hangs'), await jobOf('one')]
  await queue.offer(hanging)
  await queue.offer(plain)
  await until(async () => (await queue.depth()) === 0)
  expect(await isIndexed(plain)).toBe(true)
  expect(await queue.offer(hanging)).toMatchObject({ status: 'failed', errorCode: 'index.timeout' })
  expect(log.filter(({ message }) => message === 'the job process died')).toMatchObject(
    [1, 2, 3].map(() => ({ reason: 'time', stage: null, errorCode: 'index.timeout' })),
  )
  const lines = (await metrics()).split('\n')
  expect(lines).toContain('mountglass_jobs_total{outcome="crashed",code="index.timeout"} 3')
  expect(lines).toContain('mountglass_job_process_ends_total{reason="time"} 3')
})

test('what the processes that a job started hold counts as its memory', async () => {
  const { queue, log } = await openWorker({ settings: { memoryMegabytes: 384 } })
  const job = await jobOf('eats-elsewhere')
  await queue.offer(job)
  await until(async () => (await queue.depth()) === 0)
  expect(await queue.offer(job)).toMatchObject({ status: 'failed', errorCode: 'index.internal' })
  const died = log.filter(({ message }) => message === 'the job process died')
  expect(died.map(({ reason }) => reason)).toEqual(['memory', 'memory', 'memory'])
})

test('a kept process that died before it began a job is not held against the job: another one does it', async () => {
  const { processes, blobs, states, log } = await openProcesses({})
  onTestFinished(async () => {
    await processes.close()
    await states.close()
    await blobs.close()
  })
  const [job, { signal }] = [await jobOf('one'), new AbortController()]
  await processes.ready(signal)
  // In one turn: that it is gone is not known here yet.
  process.kill(Number(log.find(({ message }) => message === 'job process ready')?.process), 'SIGKILL')
  expect(await processes.run(job, { signal, onStage() {} })).toMatchObject({ status: 'indexed' })
})

test('why a job fails is told with the code and the stack of where it happened', async () => {
  const { queue, log } = await openWorker()
  const { repository } = await jobOf('one')
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
  await queue.offer(await jobOf('one'))
  await until(() => log.filter(({ message }) => message === 'cannot take a job from the queue').length === 2)
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
    states: states => ({
      ...states,
      read: failing(states.read),
      create: failing(states.create),
      replace: failing(states.replace),
      remove: failing(states.remove),
      list: failing(states.list),
    }),
  })
  const jobs = [await jobOf('one'), await jobOf('two'), await jobOf('three')]
  for (const job of jobs) await queue.offer(job)
  await until(async () => (await queue.depth()) === 0)
  expect(await Promise.all(jobs.map(isIndexed))).toEqual([true, true, true])
  expect(log.filter(({ message }) => message === 'the job process died')).toEqual([])
})

test('processes are used again, and those that nobody needs are ended', async () => {
  const { queue, started, alive } = await openWorker({ settings: { idleMilliseconds: 0, concurrency: 1 } })
  await queue.offer(await jobOf('one'))
  await queue.offer(await jobOf('two'))
  await until(async () => (await queue.depth()) === 0)
  await until(async () => (await alive()) === 1)
  const before = started()
  await queue.offer(await jobOf('three'))
  await until(async () => (await queue.depth()) === 0)
  expect(started()).toBe(before)
})

test('before any job, a process starts for the one that comes beside a long one, and both are kept', async () => {
  const { queue, started, alive } = await openWorker({
    settings: { idleMilliseconds: 0, settledMilliseconds: 0, wallSeconds: 3 },
    env: PREPARED,
  })
  await until(async () => (await alive()) === 2)
  expect(started()).toBe(2)
  await queue.offer(await jobOf('hangs'))
  await queue.offer(await jobOf('one'))
  await until(async () => (await queue.depth()) === 1)
  expect(started()).toBe(2)
})

test('a worker that ends soon starts no process for jobs that may come', async () => {
  const { processes, blobs, states, log } = await openProcesses({ settings: { settledMilliseconds: 0 } })
  onTestFinished(async () => {
    await states.close()
    await blobs.close()
  })
  const { signal } = new AbortController()
  for (const _ of ['first', 'second look']) await processes.ready(signal)
  // Waits for a process that is starting.
  await processes.close()
  expect(log.filter(({ message }) => message === 'job process ready')).toHaveLength(1)
})

test('a job that turns out to be long yields to others, and its process is replaced once nothing runs', async () => {
  const { queue, log, alive } = await openWorker({ settings: { settledMilliseconds: 0 }, env: PREPARED })
  await until(async () => (await alive()) === 2)
  const usual = log.filter(({ message }) => message === 'job process ready').map(({ process }) => Number(process))
  await queue.offer(await jobOf('dawdles'))
  await until(() => usual.some(pid => priorityOf(pid) === Math.max(getPriority(), YIELDING_NICENESS)))
  await until(() => log.some(({ message, reason }) => message === 'job process ended' && reason === 'slow'))
  await until(async () => (await alive()) === 2)
})

test('the next job of a repository whose last one was long yields from its start, and leaves a process that does not to others', async () => {
  const { processes, blobs, states, log } = await openProcesses({})
  onTestFinished(async () => {
    await processes.close()
    await states.close()
    await blobs.close()
  })
  const { signal } = new AbortController()
  const run = async (name: string) => {
    await processes.ready(signal)
    return processes.run(await jobOf(name), { signal, onStage: () => {} })
  }
  const yielding = () => {
    const started = log.filter(({ message }) => message === 'job process ready').map(({ process }) => Number(process))
    return started.map(pid => priorityOf(pid) === Math.max(getPriority(), YIELDING_NICENESS))
  }
  const beside = processes.ready(signal).then(() => run('dawdles'))
  await until(() => yielding().length === 1)
  await Promise.all([beside, run('one')])
  expect(yielding().sort()).toEqual([false, true])
  await run('dawdles')
  expect(yielding().sort()).toEqual([false, true])
})

test('a process that holds much after its job is replaced', async () => {
  // More than half of this is held by any process.
  const { queue, log } = await openWorker({ settings: { memoryMegabytes: 192 } })
  await queue.offer(await jobOf('one'))
  await until(() => log.some(({ message, reason }) => message === 'job process ended' && reason === 'large'))
  await queue.offer(await jobOf('two'))
  await until(async () => (await queue.depth()) === 0)
})

test('a process warms up when it is told to, also after it was told to rest', async () => {
  const env = { ...programEnvironment(), MOUNTGLASS_STORE: `disk:${await temporaryFolder()}`, MOUNTGLASS_GITHUB: 'off' }
  const settings = { env, handover: () => NO_HANDOVER, memoryMegabytes: 1_024, metrics: createPrometheusMetrics() }
  const process = await startJobProcess(settings, new AbortController().signal)
  onTestFinished(() => process.end('stopped'))
  process.warmUp()
  process.rest()
  expect(process.isWarm).toBe(false)
  process.warmUp()
  await until(() => process.isWarm)
})

/** `null` when the process ended. */
function priorityOf(pid: number): number | null {
  try {
    return getPriority(pid)
  } catch {
    return null
  }
}
