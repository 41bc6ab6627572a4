import { beforeEach, expect, test } from 'vitest'
import { LongJobs, takeIdle } from '#indexer/jobs/job-lanes.ts'
import type { JobEnd } from '#indexer/jobs/job-runner.ts'
import { jobOf } from '#test/support/store-values.ts'

const LONG: { end: JobEnd; isLong: boolean } = { end: { status: 'indexed', objects: 9, bytes: 9 }, isLong: true }
const SHORT = { ...LONG, isLong: false }

const job = jobOf(1)
let long: LongJobs
beforeEach(() => {
  long = new LongJobs()
})

test('a job is expected to be long if the last one of its repository was, even one that was stopped', () => {
  expect(long.isExpected(job)).toBe(false)
  long.note(job, { ...LONG, end: { status: 'stopped' } })
  expect(long.isExpected(job)).toBe(true)
  expect(long.isExpected({ ...job, repository: { ...job.repository, id: 'another' } })).toBe(false)
  long.note(job, SHORT)
  expect(long.isExpected(job)).toBe(false)
})

test.each<JobEnd>([
  { status: 'indexed', objects: 0, bytes: 0 },
  { status: 'stopped' },
  { status: 'failed', errorCode: 'index.fetch_failed', err: null },
  { status: 'crashed', errorCode: 'index.internal', reason: 'died' },
])('a short job that stored nothing changes nothing: $status', end => {
  long.note(job, LONG)
  long.note(job, { ...SHORT, end })
  expect(long.isExpected(job)).toBe(true)
})

test('a short job takes the process that ran last, a long one the other, and none if that leaves none to others', () => {
  const idle = ['first', 'second', 'third']
  expect(takeIdle(idle, false, 2)).toBe('third')
  expect(takeIdle(idle, true, 2)).toBe('first')
  expect(takeIdle(idle, true, 2)).toBeUndefined()
  expect(takeIdle(idle, false, 2)).toBe('second')
  expect(takeIdle(idle, false, 2)).toBeUndefined()
})

test('with one kept process, a long job takes it', () => {
  expect(takeIdle(['only'], true, 1)).toBe('only')
})
