import { beforeEach, describe, expect, test } from 'vitest'
import { createQuota, type Quota } from '#infra/github/quota.ts'

const HOUR_SECONDS = 3_600
let seconds: number
let quota: Quota

beforeEach(() => {
  seconds = 1_000_000
  quota = createQuota({ now: () => new Date(seconds * 1000) })
})

const note = (limit: number, remaining: number, reset: number) =>
  quota.note({ 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset })

/** Asks as often as the quota admits, up to a bound. Returns what ends each question. */
function askAll(subject: Parameters<Quota['spend']>[0], bound = 200) {
  const ends: ReturnType<Quota['spend']>[] = []
  while (ends.length < bound && quota.waitSeconds(subject) === null) ends.push(quota.spend(subject))
  return ends
}

describe('before the first answer, the limit counts as the smallest one', () => {
  test('for each subject and for all that is endless', () => {
    expect(askAll('name')).toHaveLength(12)
    expect(askAll('hash')).toHaveLength(12)
    expect(askAll('page')).toHaveLength(0)
    expect(askAll('shown')).toHaveLength(24)
    expect(askAll('known')).toHaveLength(200)
    expect(quota.waitSeconds('name')).toBe(1)
  })

  test('and on a host without a limit, only concurrent questions count', () => {
    for (let round = 0; round < 10; round++) {
      const ends = askAll('account')
      expect(ends).toHaveLength(12)
      for (const end of ends) end(false)
    }
  })
})

test('a question asked before the first answer of an hour counts towards that hour', () => {
  const first = askAll('ref')
  note(60, 59, seconds + HOUR_SECONDS)
  for (const end of first) end(false)
  expect(quota.waitSeconds('ref')).toBe(HOUR_SECONDS)
  seconds += HOUR_SECONDS + 1
  const next = askAll('ref')
  expect(next).toHaveLength(12)
  note(60, 48, seconds + HOUR_SECONDS)
  for (const end of next) end(false)
  expect(quota.waitSeconds('ref')).toBe(HOUR_SECONDS)
})

test('a question that was free of charge does not count', () => {
  note(60, 60, seconds + HOUR_SECONDS)
  for (let question = 0; question < 100; question++) {
    expect(quota.waitSeconds('ref')).toBeNull()
    quota.spend('ref')(true)
  }
  expect(askAll('ref')).toHaveLength(12)
})

test('questions in progress count as spent, so that many at once leave the reserve', () => {
  note(50, 50, seconds + HOUR_SECONDS)
  expect(askAll('shown')).toHaveLength(40)
})

test('the end of a question of an earlier hour changes nothing of the next', () => {
  note(60, 60, seconds + HOUR_SECONDS)
  const before = askAll('hash')
  seconds += HOUR_SECONDS + 1
  note(60, 60, seconds + HOUR_SECONDS)
  for (const end of before) end(true)
  expect(askAll('hash')).toHaveLength(12)
})
