import { describe, expect, test } from 'vitest'
import { InvalidationLog, subjectsOfRef, subjectsOfRepository } from '#infra/github/invalidation-log.ts'
import type { HostChange } from '#infra/github/webhook.ts'

const NOTHING: HostChange = { repositories: [], accounts: [], refs: [] }
const RENAMED: HostChange = { ...NOTHING, repositories: [{ id: 'gh-1', fullName: 'Acme/Tools' }] }
const PUSHED: HostChange = { ...NOTHING, refs: [{ id: 'gh-1', ref: 'refs/heads/main' }] }
const ACCOUNT: HostChange = { ...NOTHING, accounts: ['Acme'] }
const REPOSITORY = subjectsOfRepository('acme/tools', 'gh-1')
const REF = subjectsOfRef('gh-1')

/** A process that has looked at a feed with so many changes. */
function open(last = 5): InvalidationLog {
  const changes = new InvalidationLog(true)
  changes.known(last)
  return changes
}

test.each<[string, HostChange, string[], boolean]>([
  ['its name', RENAMED, subjectsOfRepository('acme/tools', null), true],
  ['its id', RENAMED, subjectsOfRepository('acme/other', 'gh-1'), true],
  ['its id, and it is about a ref', RENAMED, subjectsOfRef('gh-1'), true],
  ['a ref of it', PUSHED, REF, true],
  ['a ref of it, and it is about the repository', PUSHED, REPOSITORY, false],
  ['its account', ACCOUNT, REPOSITORY, true],
  ['another repository', RENAMED, subjectsOfRepository('acme/other', 'gh-2'), false],
])('an answer is outdated by a later change of %s', (_, change, subjects, isOutdated) => {
  const changes = open()
  changes.note(change, 6, false)
  changes.known(6)
  expect([changes.isOutdated(5, subjects), changes.isOutdated(6, subjects)]).toEqual([isOutdated, false])
})

describe('no shared answer counts', () => {
  test('before the first look, and while the feed cannot be parsed', () => {
    const changes = new InvalidationLog(true)
    expect(changes.isOutdated(9, [])).toBe(true)
    changes.known(9)
    expect(changes.isOutdated(9, [])).toBe(false)
    changes.known(null)
    expect(changes.isOutdated(9, [])).toBe(true)
    changes.known(9)
    expect(changes.isOutdated(9, [])).toBe(false)
  })

  test('about a subject with an unnumbered change, for each of them', () => {
    const changes = open()
    for (const _ of [1, 2]) changes.begin(PUSHED)
    changes.note(PUSHED, 6, true)
    expect(changes.isOutdated(6, REF)).toBe(true)
    changes.note(PUSHED, 7, true)
    expect([changes.isOutdated(6, REF), changes.isOutdated(7, REF)]).toEqual([true, false])
  })

  test('whose asker knew fewer changes than may have been missed', () => {
    const changes = open()
    changes.missed(4)
    expect([changes.isOutdated(3, []), changes.isOutdated(4, [])]).toEqual([true, false])
  })
})

test('a feed that restarts its count outdates by its new numbers', () => {
  const changes = open(5)
  changes.note(RENAMED, 5, false)
  changes.known(2)
  expect([changes.isOutdated(1, REPOSITORY), changes.isOutdated(2, REPOSITORY)]).toEqual([true, false])
})

test('an evicted mark outdates the answers of all subjects', () => {
  const changes = open()
  changes.note(RENAMED, 6, false)
  for (let number = 0; number < 40_000; number++)
    changes.note({ ...NOTHING, refs: [{ id: `gh-${number + 2}`, ref: 'refs/heads/main' }] }, 7, false)
  expect([changes.isOutdated(5, REPOSITORY), changes.isOutdated(7, REPOSITORY)]).toEqual([true, false])
})

test('without a feed nothing is outdated', () => {
  expect(new InvalidationLog(false).isOutdated(0, REPOSITORY)).toBe(false)
})
