import { expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import { createDamageReports } from '#core/damage-reports.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { createMemoryStateStore } from '#infra/memory-stores.ts'

const REPOSITORY = { id: '1', visibility: 'public' } as HostRepository
const COMMIT = 'a'.repeat(40) as CommitSha
const START = Date.parse('2026-01-01T00:00:00Z')

const at = (seconds: number) => new Date(START + seconds * 1000)

test('a report that two jobs settle counts one repair, and the backoff begins with the first', async () => {
  const reports = createDamageReports(createMemoryStateStore())
  expect(await reports.report(REPOSITORY, COMMIT, at(0))).toBe(true)
  await reports.settle(REPOSITORY, COMMIT, at(10))
  await reports.settle(REPOSITORY, COMMIT, at(20))

  expect(await reports.find(REPOSITORY, COMMIT)).toBeNull()
  expect(await reports.report(REPOSITORY, COMMIT, at(39))).toBe(false)
  expect(await reports.report(REPOSITORY, COMMIT, at(40))).toBe(true)
  expect(await reports.find(REPOSITORY, COMMIT)).toEqual({ repairs: 1 })
})

test('settling without a report leaves no entry', async () => {
  const states = createMemoryStateStore()
  await createDamageReports(states).settle(REPOSITORY, COMMIT, at(0))
  expect(await states.list('')).toEqual([])
})
