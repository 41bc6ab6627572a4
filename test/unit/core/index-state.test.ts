import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FAILURE_BACKOFF_SECONDS, JOB_CRASHES, LEASE_MARGIN, LEASE_SECONDS } from '#core/limits.ts'
import {
  claim,
  crashed,
  failed,
  isRetryDue,
  JobEntry,
  type LeasedJob,
  QueueMarker,
  released,
  renewed,
} from '#core/snapshot/index-state.ts'
import { REPOSITORY } from '#test/support/store-values.ts'

const NOW = new Date('2026-03-01T12:00:00.000Z')
const seconds = (offset: number) => new Date(NOW.getTime() + offset * 1000)
const at = (offset: number) => seconds(offset).toISOString()

const MARGIN_SECONDS = LEASE_SECONDS * LEASE_MARGIN

const lease = (changes: Partial<LeasedJob> = {}): LeasedJob => ({
  state: 'leased',
  worker: 'first',
  fence: 4,
  until: at(LEASE_SECONDS),
  failures: 0,
  crashes: 0,
  ...changes,
})
const failure = (changes: object = {}): JobEntry =>
  JobEntry.parse({ state: 'failed', errorCode: 'index.timeout', fence: 4, failures: 2, retryAt: at(60), ...changes })

describe('claiming a job', () => {
  const mine = { state: 'leased', worker: 'second', until: at(LEASE_SECONDS) }

  test.each<{ name: string; record: JobEntry | null; expected: object | null }>([
    { name: 'waits: the first lease', record: null, expected: { ...mine, fence: 1, failures: 0, crashes: 0 } },
    { name: 'is held: nothing', record: lease(), expected: null },
    { name: 'was held until now: nothing, for clocks differ', record: lease({ until: at(0) }), expected: null },
    {
      name: 'may be held for another millisecond: nothing',
      record: lease({ until: at(-MARGIN_SECONDS + 0.001) }),
      expected: null,
    },
    {
      name: 'was held, whatever the clock of its worker says: the next fence',
      record: lease({ until: at(-MARGIN_SECONDS) }),
      expected: { ...mine, fence: 5, failures: 0, crashes: 1 },
    },
    {
      name: 'was held long ago, after failures: they still count',
      record: lease({ until: at(-9_999), failures: 3, crashes: 1 }),
      expected: { ...mine, fence: 5, failures: 3, crashes: 2 },
    },
    {
      name: 'killed its third worker: a failure inside the service',
      record: lease({ until: at(-9_999), crashes: JOB_CRASHES - 1 }),
      expected: {
        state: 'failed',
        errorCode: 'index.internal',
        fence: 4,
        failures: 1,
        retryAt: at(FAILURE_BACKOFF_SECONDS.first),
      },
    },
    { name: 'failed and may not be tried yet: nothing', record: failure({ retryAt: at(0.001) }), expected: null },
    {
      name: 'failed and may be tried: the next fence, crashes forgotten, failures not',
      record: failure({ retryAt: at(0) }),
      expected: { ...mine, fence: 5, failures: 2, crashes: 0 },
    },
    {
      name: 'was handed back: the next fence, deaths and failures as they were',
      record: { state: 'released', fence: 4, failures: 1, crashes: 2 },
      expected: { ...mine, fence: 5, failures: 1, crashes: 2 },
    },
  ])('that $name', ({ record, expected }) => {
    expect(claim(record, 'second', NOW)).toEqual(expected)
  })
})

test('a worker whose clock is ahead by less than a lease takes no job from one that renews in time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 600 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (leaseSeconds, ahead) => {
      const held = renewed(lease(), NOW, leaseSeconds)
      const beforeNextRenewal = leaseSeconds / 3
      expect(claim(held, 'second', seconds(beforeNextRenewal + ahead * leaseSeconds), leaseSeconds)).toBeNull()
    }),
  )
})

test('a lease lasts as long as the queue says', () => {
  expect(claim(null, 'first', NOW, 2)).toMatchObject({ until: at(2) })
  expect(claim(lease({ until: at(-2 * LEASE_MARGIN) }), 'second', NOW, 2)).toMatchObject({ fence: 5 })
  expect(claim(lease({ until: at(-2 * LEASE_MARGIN) }), 'second', NOW, 3)).toBeNull()
  expect(renewed(lease(), NOW, 2)).toEqual(lease({ until: at(2) }))
})

test('crashes are counted, and the third is a failure with the code of its cause', () => {
  const waiting = { state: 'released', fence: 4, failures: 1 }
  const counted = [0, 1, 2].map(crashes => crashed(lease({ failures: 1, crashes }), 'index.timeout', NOW))
  expect(counted).toEqual([
    { ...waiting, crashes: 1 },
    { ...waiting, crashes: 2 },
    failed(lease({ failures: 1 }), 'index.timeout', NOW),
  ])
})

test('a job handed back by an earlier version is read with no crash', () => {
  expect(JobEntry.parse({ state: 'released', fence: 4, failures: 1 })).toEqual({
    state: 'released',
    fence: 4,
    failures: 1,
    crashes: 0,
  })
})

test('renewing moves the end of the lease and nothing else', () => {
  const record = lease({ until: at(3), failures: 2, crashes: 1 })
  expect(renewed(record, NOW)).toEqual({ ...record, until: at(LEASE_SECONDS) })
})

test.each([
  [0, 30],
  [1, 60],
  [2, 120],
  [3, 240],
  [6, 1_920],
  [7, 3_600],
  [8, 3_600],
  [5_000, 3_600],
])('after %i failures, one more waits %i seconds', (failures, backoffSeconds) => {
  expect(failed(lease({ failures, crashes: 2 }), 'index.too_large', NOW)).toEqual({
    state: 'failed',
    errorCode: 'index.too_large',
    fence: 4,
    failures: failures + 1,
    retryAt: at(backoffSeconds),
  })
})

test('a retry is due from its instant on', () => {
  const record = failed(lease(), 'index.internal', NOW)
  expect([29.999, 30, 31].map(offset => isRetryDue(record, seconds(offset)))).toEqual([false, true, true])
})

test('after any sequence of events, job records can be stored, the fence never falls, and every lease has a new one', () => {
  const ends = {
    renew: renewed,
    release: released,
    fail: (record: LeasedJob, now: Date) => failed(record, 'index.internal', now),
    crash: (record: LeasedJob, now: Date) => crashed(record, 'index.internal', now),
  }
  const step = fc.record({
    act: fc.constantFrom('claim', 'renew', 'fail', 'release', 'crash'),
    waitSeconds: fc.integer({ min: 0, max: 4_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      let record: JobEntry | null = null
      let nowSeconds = 0
      const fences: number[] = []
      for (const { act, waitSeconds } of steps) {
        nowSeconds += waitSeconds
        const now = seconds(nowSeconds)
        const before: JobEntry | null = record
        if (act === 'claim') record = claim(before, 'worker', now) ?? before
        else if (before?.state === 'leased') record = ends[act](before, now)
        if (record === null) continue
        expect(JobEntry.parse(JSON.parse(JSON.stringify(record)))).toEqual(record)
        expect(record.fence).toBeGreaterThanOrEqual(before?.fence ?? 1)
        if (act === 'claim' && record !== before && record.state === 'leased') fences.push(record.fence)
      }
      expect(new Set(fences).size).toBe(fences.length)
    }),
  )
})

test('a marker whose commit is not a full lower-case hash is invalid', () => {
  const marker = { repository: REPOSITORY, commit: 'a'.repeat(40), offeredAt: at(0) }
  expect(QueueMarker.parse(marker)).toEqual(marker)
  for (const commit of ['A'.repeat(40), 'a'.repeat(39), '', null])
    expect(QueueMarker.safeParse({ ...marker, commit }).success).toBe(false)
})
