import { expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { QueueMarker } from '#core/snapshot/index-state.ts'
import { succeed } from '#core/snapshot/job-turns.ts'
import { jobOf } from '#test/support/store-values.ts'

const NOW = new Date('2026-03-01T12:00:00.000Z')
const commit = (number: number): CommitSha => jobOf(number).commit
const commits = (...numbers: number[]): CommitSha[] => numbers.map(commit)

function marker(number: number, superseded: CommitSha[]): QueueMarker {
  const { repository } = jobOf(1)
  return { repository, commit: commit(number), isDefault: true, offeredAt: NOW.toISOString(), superseded }
}

test('a job supersedes each commit of the default branch once, those of the waiting job first; other refs do not count', () => {
  const waiting = marker(3, commits(2, 1))
  const running = marker(2, commits(1, 0))
  const { isDefault, ...branch } = marker(9, commits(8))
  expect(succeed(NOW, null, [waiting], [branch, running, waiting]).superseded).toEqual(commits(3, 2, 1, 0))
})

test('a job remembers the last 32 commits, and has the turn of the waiting job, not of the running one', () => {
  const numbers = Array.from({ length: 32 }, (_, index) => 60 - index)
  const waiting = { ...marker(61, commits(...numbers)), turnAt: '2026-03-01T11:59:00.000Z' }
  const running = { ...marker(60, commits(1)), turnAt: '2026-03-01T11:00:00.000Z' }
  expect(succeed(NOW, null, [waiting], [running, waiting])).toEqual({
    turnAt: new Date('2026-03-01T11:59:00.000Z'),
    superseded: commits(61, ...numbers.slice(0, 31)),
  })
})
