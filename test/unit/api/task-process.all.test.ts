import { afterEach, expect, test } from 'vitest'
import { createTaskProcess, type TaskProcess, type TaskProcessOptions } from '#api/pictures/task-process.ts'
import type { HostileTask } from '#test/support/hostile-tasks.ts'
import { isAlive } from '#test/support/is-alive.ts'
import { IMPATIENT_MS } from '#test/support/patient.ts'
import { until } from '#test/support/until.ts'

let started: TaskProcess<HostileTask, unknown> | null = null
afterEach(async () => {
  await started?.close()
  started = null
})

const REFUSED = { status: 'refused' }

const LONG_MS = 60_000
const program = new URL('../../support/hostile-tasks.ts', import.meta.url)

function start(options: Partial<TaskProcessOptions> = {}): TaskProcess<HostileTask, unknown> {
  started = createTaskProcess({ program, memoryMegabytes: 512, taskMs: LONG_MS, maxWaiting: 3, ...options })
  return started
}

/** A process that is ready, and has enough time for its tasks, but for those that are run impatiently. */
async function startImpatient(maxWaiting: number) {
  const options: TaskProcessOptions = { program, memoryMegabytes: 512, taskMs: LONG_MS, maxWaiting }
  const process = createTaskProcess<HostileTask, unknown>(options)
  started = process
  const pid = await pidOf(process)
  const runImpatiently = (task: HostileTask) => {
    options.taskMs = IMPATIENT_MS
    const outcome = process.run(task)
    options.taskMs = LONG_MS
    return outcome
  }
  return { process, pid, runImpatiently }
}

async function pidOf(process: TaskProcess<HostileTask, unknown>): Promise<number> {
  const outcome = await process.run('answer')
  if (outcome.status !== 'done') throw new Error(outcome.status)
  return outcome.result as number
}

test('a process does task after task, and refuses those that throw', async () => {
  const process = start()
  const pid = await pidOf(process)
  expect(await process.run('throw')).toEqual(REFUSED)
  expect(await pidOf(process)).toBe(pid)
})

test.each(['loop', 'wait'] as const)(
  'a task that does not end (%s) is refused with its process, and the next one is done',
  async task => {
    const { process, pid, runImpatiently } = await startImpatient(3)
    const [refused, next] = await Promise.all([runImpatiently(task), pidOf(process)])
    expect(refused).toEqual(REFUSED)
    expect(next).not.toBe(pid)
    await until(() => !isAlive(pid))
  },
)

test('a task with too much memory is refused, and so is one whose process dies', async () => {
  const process = start({ memoryMegabytes: 256 })
  const pid = await pidOf(process)
  expect(await process.run('grow')).toEqual(REFUSED)
  const second = await pidOf(process)
  expect(second).not.toBe(pid)
  expect(await process.run('die')).toEqual(REFUSED)
  expect(await pidOf(process)).not.toBe(second)
})

test('more tasks than may wait are not taken', async () => {
  const { process, runImpatiently } = await startImpatient(1)
  const outcomes = await Promise.all([runImpatiently('wait'), process.run('answer'), process.run('answer')])
  expect(outcomes.map(({ status }) => status)).toEqual(['refused', 'done', 'busy'])
})

test('the process has no secret, writes no file and starts no program', async () => {
  process.env.MOUNTGLASS_TEST_SECRET = 'secret'
  const tasks = start()
  const environment = await tasks.run('environment')
  delete process.env.MOUNTGLASS_TEST_SECRET
  if (environment.status !== 'done') throw new Error(environment.status)
  const names = (environment.result as string[]).filter(
    name => !['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE'].includes(name),
  )
  for (const name of names) expect(['LD_LIBRARY_PATH', 'MALLOC_ARENA_MAX', 'PATH', 'TZ', 'VIPS_CONCURRENCY']).toContain(name)
  expect(await tasks.run('write')).toEqual(REFUSED)
  expect(await tasks.run('start')).toEqual(REFUSED)
})

test('an idle process ends, and a closed one takes no task', async () => {
  const tasks = start({ idleMs: 1 })
  const pid = await pidOf(tasks)
  await until(() => !isAlive(pid))
  expect(await pidOf(tasks)).not.toBe(pid)
  const waiting = tasks.run('wait')
  await tasks.close()
  expect(await waiting).toEqual({ status: 'busy' })
  expect(await tasks.run('answer')).toEqual({ status: 'busy' })
})

test('a process that cannot be started fails its task and reports it', async () => {
  const failures: unknown[] = []
  const program = new URL('../../support/no-such-program.ts', import.meta.url)
  const tasks = start({ program, onFailure: error => failures.push(error) })
  expect(await tasks.run('answer')).toEqual({ status: 'failed' })
  expect(failures).toHaveLength(1)
})
