import { expect, test } from 'vitest'
import { UnreachableCommits } from '#infra/git/unreachable-commits.ts'

const hashOf = (number: number) => number.toString(16).padStart(40, '0')

test('a hash is known until a tip moves', () => {
  const unreachable = new UnreachableCommits()
  unreachable.add('one', hashOf(1), 'before')
  unreachable.add('one', hashOf(2), 'before')
  expect(unreachable.fingerprintOf('one', hashOf(1))).toBe('before')
  expect(unreachable.fingerprintOf('two', hashOf(1))).toBeNull()
  unreachable.add('one', hashOf(2), 'after')
  expect([1, 2].map(number => unreachable.fingerprintOf('one', hashOf(number)))).toEqual([null, 'after'])
})

test('endless hashes of one repository evict only their own', () => {
  const unreachable = new UnreachableCommits()
  unreachable.add('quiet', hashOf(0), 'tips')
  for (let number = 0; number < 100_000; number++) unreachable.add('attacked', hashOf(number), 'tips')
  expect(unreachable.fingerprintOf('quiet', hashOf(0))).toBe('tips')
  expect(unreachable.fingerprintOf('attacked', hashOf(99_999))).toBe('tips')
  expect(unreachable.fingerprintOf('attacked', hashOf(0))).toBeNull()
})

test('a hundred attacked repositories keep their latest hashes', () => {
  const unreachable = new UnreachableCommits()
  for (let repository = 0; repository < 100; repository++)
    for (let number = 0; number < 1_001; number++) unreachable.add(`${repository}`, hashOf(number), 'tips')
  for (let repository = 0; repository < 100; repository++) {
    expect(unreachable.fingerprintOf(`${repository}`, hashOf(0))).toBeNull()
    for (const number of [1, 8, 500, 1_000]) expect(unreachable.fingerprintOf(`${repository}`, hashOf(number))).toBe('tips')
  }
})

test('the end of one hash and the start of the next are no hash', () => {
  const unreachable = new UnreachableCommits()
  unreachable.add('one', 'ab'.repeat(20), 'tips')
  unreachable.add('one', 'cd'.repeat(20), 'tips')
  expect(unreachable.fingerprintOf('one', `${'ab'.repeat(10)}${'cd'.repeat(10)}`)).toBeNull()
  expect(unreachable.fingerprintOf('one', '0'.repeat(40))).toBeNull()
})

test('endless repositories stay within a bound of bytes', () => {
  const unreachable = new UnreachableCommits()
  for (let number = 0; number < 50_000; number++) unreachable.add(`repository-${number}`, hashOf(1), 'tips')
  expect(unreachable.fingerprintOf('repository-0', hashOf(1))).toBeNull()
  expect(unreachable.fingerprintOf('repository-49999', hashOf(1))).toBe('tips')
})
