import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { JobRunner } from '#indexer/jobs/job-runner.ts'
import { until } from '#test/support/until.ts'
import { openProcessesScene, type ProcessesOptions, yields } from './job-processes-scene.ts'

let scene: Awaited<ReturnType<typeof openProcessesScene>>
beforeAll(async () => {
  scene = await openProcessesScene()
})
afterAll(() => scene.close())

const { signal } = new AbortController()

async function openProcesses(options: ProcessesOptions = {}) {
  const opened = await scene.open(options)
  onTestFinished(opened.close)
  return { ...opened, started: () => opened.logged('job process ready'), ended: () => opened.logged('job process ended') }
}

async function run(processes: JobRunner, name: string) {
  const job = await scene.jobOf(name)
  await processes.ready(signal)
  return processes.run(job, { signal, onStage: () => {} })
}

test('a job that arrives while a process starts for it waits for that process', async () => {
  const { processes, started } = await openProcesses()
  const job = await scene.jobOf('one')
  for (const _ of ['starts one', 'starts another beside it']) await processes.ready(signal)
  const running = processes.run(job, { signal, onStage: () => {} })
  await processes.ready(signal)
  await running
  await processes.close() // waits for what is starting
  expect(started()).toHaveLength(2)
})

test('the next job of a repository whose last one was long has a process that yields, and leaves the idle one to others', async () => {
  const { processes, started, ended } = await openProcesses()
  await run(processes, 'dawdles')
  await until(() => ended().length === 1)
  await run(processes, 'dawdles')
  await until(() => ended().length === 2)
  const [first, idle, second] = started()
  expect(ended()).toEqual([first, second])
  expect(yields(idle as number)).toBe(false)
  await run(processes, 'one')
  expect(started()).toEqual([first, idle, second])
})

test('with one job at once, a repository with long jobs has the only process', async () => {
  const { processes, started } = await openProcesses({ settings: { concurrency: 1 } })
  for (const _ of ['long', 'expected to be long']) await run(processes, 'dawdles')
  expect(started()).toHaveLength(2)
})
