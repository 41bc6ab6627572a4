import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { descendantsOf } from '#indexer/jobs/processes.ts'
import { isAlive } from '#test/support/is-alive.ts'
import { until } from '#test/support/until.ts'
import {
  allDone,
  DEADLY,
  folder,
  isIndexed,
  jobOf,
  offer,
  PLAIN,
  queue,
  queueAt,
  recordOf,
  slow,
  start,
  untilReading,
  useWorkScene,
} from './work-scene.ts'

useWorkScene()

test('jobs run concurrently, each in its own process; nothing is left behind', async () => {
  const worker = start({ concurrency: 3, isSlow: true })
  await offer(...PLAIN)
  for (const _ of [1, 2, 3]) await worker.said('job process ready')
  await until(async () => (await Promise.all(PLAIN.map(recordOf))).filter(record => record?.state === 'leased').length === 3)
  expect(await queue.take('another worker'), 'a job that this worker has no hands for').not.toBeNull()
  await slow.goOn()
  for (const _ of [1, 2, 3]) await worker.said('indexed')
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
  expect((await readdir(folder)).filter(name => name.startsWith('mountglass-'))).toEqual([])
})

test('a process that is killed during its job counts at once, and the job is done by the next', async () => {
  const worker = start({ isSlow: true, env: { MOUNTGLASS_LEASE_SECONDS: '600' } })
  await offer('one')
  const { process: pid } = await worker.said('job process ready')
  await untilReading(worker, 'one')
  const gits = descendantsOf(pid)
  process.kill(pid, 'SIGKILL')
  expect(await worker.said('the job process died')).toMatchObject({
    errorCode: 'index.internal',
    stage: 'open',
    reason: 'died: SIGKILL',
  })
  await until(() => !gits.some(isAlive))
  await until(async () => {
    const record = await recordOf('one')
    return record?.state === 'leased' && record.fence === 2 && record.crashes === 1
  })
  await slow.goOn()
  await worker.said('indexed')
  await allDone()
  expect(await isIndexed('one')).toBe(true)
})

test('a killed worker takes its processes along, and another worker takes its job', async () => {
  const first = start({ isSlow: true, env: { MOUNTGLASS_LEASE_SECONDS: '2' } })
  await offer('one')
  await untilReading(first, 'one')
  const family = descendantsOf(first.child.pid as number)
  first.child.kill('SIGKILL')
  await first.ended
  await until(() => !family.some(isAlive))
  await slow.goOn()
  const second = start()
  await second.said('indexed')
  await allDone()
  expect(await isIndexed('one')).toBe(true)
  expect((await readdir(folder)).filter(name => name.startsWith('mountglass-git-job-'))).toHaveLength(1)
})

test('a process whose job blocks the event loop ends with its worker all the same', async () => {
  const worker = start()
  await offer('hangs')
  const { process: pid } = await worker.said('job process ready')
  await until(async () => (await recordOf('hangs'))?.state === 'leased')
  worker.child.kill('SIGKILL')
  await until(() => !isAlive(pid))
  expect((await readdir(folder)).filter(name => name.startsWith('mountglass-'))).toEqual([])
})

test('a worker that was suspended for longer than its lease sees that the job is lost, and leaves it', async () => {
  const paused = start({ isSlow: true, env: { MOUNTGLASS_LEASE_SECONDS: '2' } })
  await offer('one')
  await untilReading(paused, 'one')
  paused.child.kill('SIGSTOP')
  // Its own lease is longer: should it stand still, too, the first one may not take the job back.
  const other = start({ isSlow: true })
  await until(async () => (await recordOf('one'))?.fence === 2)
  paused.child.kill('SIGCONT')
  await paused.said('lease lost: another worker has taken the job over')
  expect(await recordOf('one')).toMatchObject({ state: 'leased', fence: 2 })
  await slow.goOn()
  await other.said('indexed')
  await allDone()
  expect([await isIndexed('one'), await recordOf('one')]).toEqual([true, null])
  // It is there for the next.
  await offer('two')
  await allDone()
  expect(await isIndexed('two')).toBe(true)
})

test('jobs that kill their process three times, or exhaust its memory, fail; the others are done, and the worker lives', async () => {
  const begun = queueAt(new Date())
  const worker = start({ concurrency: 2, env: { MOUNTGLASS_JOB_MEGABYTES: '256' } })
  await offer(...DEADLY, ...PLAIN)
  const reasons = new Map<string, string[]>()
  for (const _ of DEADLY.flatMap(() => [1, 2, 3])) {
    const { repository, errorCode, reason } = await worker.said('the job process died')
    expect(errorCode).toBe('index.internal')
    reasons.set(repository, [...(reasons.get(repository) ?? []), reason])
  }
  await allDone()
  expect(reasons.get('local/acme/eats-buffers')).toEqual(['memory', 'memory', 'memory'])
  expect(reasons.get('local/acme/aborts')).toEqual(['died: SIGABRT', 'died: SIGABRT', 'died: SIGABRT'])
  expect(reasons.get('local/acme/exits')).toEqual(['died: 0', 'died: 0', 'died: 0'])
  // The heap may be full before anybody looks.
  for (const reason of reasons.get('local/acme/eats-objects') ?? []) expect(['memory', 'died: SIGABRT']).toContain(reason)
  for (const name of DEADLY)
    expect(await begun.offer(await jobOf(name))).toMatchObject({ status: 'failed', errorCode: 'index.internal' })
  expect(await Promise.all(PLAIN.map(isIndexed))).toEqual(PLAIN.map(() => true))
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
})

test('metrics of a worker are on its own port', async () => {
  const worker = start({ isSlow: true, env: { MOUNTGLASS_METRICS_PORT: '0' } })
  const { metricsPort } = await worker.said('waiting for jobs')
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}${path}`, { method })
    return {
      status: answer.status,
      type: answer.headers.get('content-type'),
      cache: answer.headers.get('cache-control'),
      text: await answer.text(),
    }
  }
  await offer('one')
  await untilReading(worker, 'one')
  // The queue is asked every five seconds, and counts if it answers within one.
  await until(async () => /^mountglass_queue_jobs 1$/m.test((await ask('/metrics')).text))
  expect((await ask('/metrics')).text).toMatch(/^mountglass_jobs_running 1$/m)
  await slow.goOn()
  await worker.said('indexed')
  const { status, type, cache, text } = await ask('/metrics')
  expect([status, type, cache]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8', 'no-store'])
  for (const line of [
    'mountglass_jobs_total{outcome="indexed",code=""} 1',
    'mountglass_job_stage_seconds_count{stage="write"} 1',
    'mountglass_store_requests_total{store="blobs",operation="create",outcome="answered"} 2',
    'mountglass_job_processes 1',
  ])
    expect(text.split('\n')).toContain(line)
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \S+$/m)
  expect(text).not.toMatch(/acme|one"/)
  expect((await ask('/healthz')).status).toBe(200)
  // A worker that stood still for two seconds is not ready.
  await until(async () => (await ask('/readyz')).status === 200)
  expect(await ask('/readyz')).toMatchObject({ cache: 'no-store' })
  expect((await ask('/')).status).toBe(404)
  expect((await ask('/metrics', 'POST')).status).toBe(405)
})

test('a port for watching that is taken stops the start with one line', async () => {
  const first = start({ env: { MOUNTGLASS_METRICS_PORT: '0' } })
  const { metricsPort } = await first.said('waiting for jobs')
  const second = start({ env: { MOUNTGLASS_METRICS_PORT: String(metricsPort) } })
  expect((await second.ended).code).toBe(1)
  expect(second.errors).toEqual([
    expect.stringMatching(/^mountglass: MOUNTGLASS_METRICS_PORT: cannot listen on 127\.0\.0\.1:\d+ /),
  ])
})
