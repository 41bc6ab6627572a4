import { beforeEach, expect, test } from 'vitest'
import { REPOSITORY_JOBS } from '#core/limits.ts'
import { LongRepositories } from '#indexer/jobs/long-repositories.ts'

const LONG = { end: { status: 'indexed', objects: 9, bytes: 9 }, isLong: true } as const
const SHORT = { ...LONG, isLong: false }
const UNTOLD = [
  { end: { status: 'indexed', objects: 0, bytes: 0 }, isLong: false },
  { end: { status: 'stopped' }, isLong: false },
  { end: { status: 'failed', errorCode: 'index.fetch_failed', err: null }, isLong: false },
  { end: { status: 'crashed', errorCode: 'index.internal', reason: 'died' }, isLong: false },
] as const

let long: LongRepositories
beforeEach(() => {
  long = new LongRepositories()
})

function noteShort(count: number) {
  for (let job = 0; job < count; job++) long.note('a', SHORT)
}

test('a repository is expected to be long after a long job, whatever became of it', () => {
  expect(long.has('a')).toBe(false)
  long.note('a', { end: { status: 'stopped' }, isLong: true })
  expect([long.has('a'), long.has('b')]).toEqual([true, false])
})

test('it is forgotten after several short jobs in a row, not when large and small refs alternate', () => {
  for (let round = 0; round < 3; round++) {
    long.note('a', LONG)
    noteShort(REPOSITORY_JOBS - 1)
    expect(long.has('a')).toBe(true)
  }
  noteShort(1)
  expect(long.has('a')).toBe(false)
})

test.each(UNTOLD)('a job that tells nothing of its length changes nothing: $end.status', end => {
  long.note('a', LONG)
  for (let job = 0; job < 20; job++) long.note('a', end)
  expect(long.has('a')).toBe(true)
})

test('a thousand repositories are remembered, those with the newest long jobs', () => {
  for (let number = 0; number < 1_000; number++) long.note(`${number}`, LONG)
  long.note('0', LONG)
  long.note('another', LONG)
  expect(['0', '1', '2', 'another'].map(id => long.has(id))).toEqual([true, false, true, true])
})
