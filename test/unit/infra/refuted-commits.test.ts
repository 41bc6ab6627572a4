import { expect, test } from 'vitest'
import { RefutedCommits } from '#infra/git/refuted-commits.ts'

const hashOf = (number: number) => number.toString(16).padStart(40, '0')

test('a hash is known until a tip moves', () => {
  const refuted = new RefutedCommits()
  refuted.add('one', hashOf(1), 'before')
  refuted.add('one', hashOf(2), 'before')
  expect(refuted.fingerprintOf('one', hashOf(1))).toBe('before')
  expect(refuted.fingerprintOf('two', hashOf(1))).toBeNull()
  refuted.add('one', hashOf(2), 'after')
  expect([1, 2].map(number => refuted.fingerprintOf('one', hashOf(number)))).toEqual([null, 'after'])
})

test('endless hashes of one repository evict only their own', () => {
  const refuted = new RefutedCommits()
  refuted.add('quiet', hashOf(0), 'tips')
  for (let number = 0; number < 100_000; number++) refuted.add('attacked', hashOf(number), 'tips')
  expect(refuted.fingerprintOf('quiet', hashOf(0))).toBe('tips')
  expect(refuted.fingerprintOf('attacked', hashOf(99_999))).toBe('tips')
  expect(refuted.fingerprintOf('attacked', hashOf(0))).toBeNull()
})

test('a hundred attacked repositories keep what was asked of them last', () => {
  const refuted = new RefutedCommits()
  for (let repository = 0; repository < 100; repository++)
    for (let number = 0; number < 1_001; number++) refuted.add(`${repository}`, hashOf(number), 'tips')
  for (let repository = 0; repository < 100; repository++) {
    expect(refuted.fingerprintOf(`${repository}`, hashOf(0))).toBeNull()
    for (const number of [1, 8, 500, 1_000]) expect(refuted.fingerprintOf(`${repository}`, hashOf(number))).toBe('tips')
  }
})

test('the end of one hash and the start of the next are no hash', () => {
  const refuted = new RefutedCommits()
  refuted.add('one', 'ab'.repeat(20), 'tips')
  refuted.add('one', 'cd'.repeat(20), 'tips')
  expect(refuted.fingerprintOf('one', `${'ab'.repeat(10)}${'cd'.repeat(10)}`)).toBeNull()
  expect(refuted.fingerprintOf('one', '0'.repeat(40))).toBeNull()
})

test('endless repositories stay within a bound of bytes', () => {
  const refuted = new RefutedCommits()
  for (let number = 0; number < 50_000; number++) refuted.add(`repository-${number}`, hashOf(1), 'tips')
  expect(refuted.fingerprintOf('repository-0', hashOf(1))).toBeNull()
  expect(refuted.fingerprintOf('repository-49999', hashOf(1))).toBe('tips')
})
