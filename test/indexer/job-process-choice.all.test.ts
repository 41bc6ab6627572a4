import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { JobRunner } from '#indexer/jobs/job-runner.ts'
import { temporaryFolder } from '#test/support/store-drivers.ts'
import { until } from '#test/support/until.ts'
import { HOSTILE, openProcessesScene, PREPARED, type ProcessesOptions, yields } from './job-processes-scene.ts'

let scene: Awaited<ReturnType<typeof openProcessesScene>>
beforeAll(async () => {
  scene = await openProcessesScene()
})
afterAll(() => scene.close())

const { signal } = new AbortController()
const SETTLED: ProcessesOptions = { settings: { settledMilliseconds: 0 }, env: PREPARED }

async function openProcesses(options: ProcessesOptions) {
  const opened = await scene.open(options)
  onTestFinished(opened.close)
  return { ...opened, started: () => opened.logged('job process ready') }
}

async function run(processes: JobRunner, name: string) {
  const job = await scene.jobOf(name)
  await processes.ready(signal)
  return processes.run(job, { signal, onStage: () => {} })
}

test('a runner that prepares nothing ahead starts no process for jobs that may come', async () => {
  const { processes, started } = await openProcesses({ settings: { settledMilliseconds: 0 } })
  for (const _ of ['first', 'second look']) await processes.ready(signal)
  // Waits for a process that is starting.
  await processes.close()
  expect(started()).toHaveLength(1)
})

test('a job that comes while a process is starting for it waits for that one', async () => {
  const { processes, started } = await openProcesses(SETTLED)
  const job = await scene.jobOf('one')
  for (const _ of ['starts one', 'starts another beside it']) await processes.ready(signal)
  const running = processes.run(job, { signal, onStage: () => {} })
  await processes.ready(signal)
  await running
  await processes.close() // waits for what is starting
  expect(started()).toHaveLength(2)
})

test('of the processes for the next job, one that ran none warms up first', async () => {
  const { processes, started, logged } = await openProcesses(SETTLED)
  await run(processes, 'one')
  await until(async () => {
    await processes.ready(signal)
    return logged('job process warm').length === 2
  })
  expect(logged('job process warm')).toEqual(started().reverse())
})

test('the next job of a repository whose last one was long yields from its start, and leaves a process that does not to others', async () => {
  const { processes, started } = await openProcesses({})
  const long = run(processes, 'dawdles')
  await until(() => started().some(yields))
  await run(processes, 'one')
  await long
  expect(started().map(yields)).toEqual([true, false])
  await run(processes, 'dawdles')
  expect(started().map(yields)).toEqual([true, false])
})

test('of the processes that are not kept, one that yields is ended first', async () => {
  const { processes, started, logged } = await openProcesses({ settings: { concurrency: 1, idleMilliseconds: 0 } })
  const long = run(processes, 'dawdles')
  await until(() => started().some(yields))
  await run(processes, 'one')
  await long
  await processes.ready(signal)
  await until(() => logged('job process ended').length === 1)
  expect(logged('job process ended')).toEqual(started().slice(0, 1))
})

test('a process that warms up rests when a job comes, so that the job has the processors', async () => {
  // On a busy machine it may be warm before the job comes: then another one warms up.
  while (!(await comesWhileOneWarmsUp()));
})

/** @returns whether the job came in time */
async function comesWhileOneWarmsUp(): Promise<boolean> {
  const file = join(await temporaryFolder(), 'told')
  const env = { ...PREPARED, NODE_OPTIONS: `--import ${HOSTILE}?told=${encodeURIComponent(file)}` }
  const { processes, logged } = await openProcesses({ settings: { settledMilliseconds: 0 }, env })
  const job = await scene.jobOf('one')
  const pidsTold = async (type: string) => {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').map(line => line.split(' '))
    return lines.filter(([, one]) => one === type).map(([pid]) => pid)
  }
  // The second one begins to warm up once the first one is warm.
  await until(async () => {
    await processes.ready(signal)
    return (await pidsTold('warm-up')).length === 2
  })
  const [first, second] = await pidsTold('warm-up')
  if (logged('job process warm').length === 2) return false
  await processes.run(job, { signal, onStage() {} })
  expect(await pidsTold('run')).toEqual([first])
  await until(async () => (await pidsTold('rest')).includes(second))
  return true
}
