import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import {
  damageKey,
  headerKey,
  headersPrefix,
  hiddenKey,
  jobKey,
  keysAt,
  lastIndexedKey,
  listedHeaderKey,
  ownerListingKey,
  packKey,
  queueKey,
  SWEEP_LEASE_KEY,
  splitKey,
  VERSIONS,
} from '#core/snapshot/store-keys.ts'

test('equal values give equal text, in any order of keys, and the text parses to the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
    }),
  )
})

test('undefined fields are left out', () => {
  expect(canonicalJson({ b: undefined, a: [1, undefined, { d: undefined }] })).toBe('{"a":[1,null,{}]}')
})

test('private repositories share no prefix with public ones, and every key can be stored anywhere', () => {
  const commit = 'a'.repeat(40) as CommitSha
  const repository = { id: 'local-0123abcd', visibility: 'public' } as HostRepository
  const hidden = { ...repository, visibility: 'private' } as HostRepository
  expect(headerKey(repository, commit)).toMatch(/^pub\/[0-9a-f]{3}\/local-0123abcd\/c\/a{40}\/r\d+f\d+s\d+$/)
  expect(headerKey(hidden, commit)).toMatch(/^prv\//)
  expect(packKey(hidden, 'ff')).toMatch(/^prv\/[0-9a-f]{3}\/local-0123abcd\/p\/ff$/)
  for (const keyOf of [jobKey, queueKey, lastIndexedKey, damageKey, hiddenKey]) {
    expect(keyOf(repository, commit)).toMatch(/^ctl\/[a-z]+\/pub\/[0-9a-f]{3}\/local-0123abcd\/[a-z0-9._/-]+$/)
    expect(keyOf(hidden, commit)).toBe(keyOf(repository, commit).replace('/pub/', '/prv/'))
  }
})

test.each(['public', 'private'] as const)('a key of a %s repository parses into its kind and its names', visibility => {
  const commit = 'a'.repeat(40) as CommitSha
  const repository = { id: 'gh-12', visibility } as HostRepository
  const snapshot = { commit, versions: VERSIONS }
  const { place = '' } = splitKey(headerKey(repository, commit)) ?? {}
  expect(splitKey(headerKey(repository, commit))).toEqual({ place, part: { kind: 'header', snapshot } })
  expect(splitKey(damageKey(repository, commit))).toEqual({ place, part: { kind: 'damage', snapshot } })
  expect(splitKey(jobKey(repository, commit))).toEqual({ place, part: { kind: 'job', snapshot } })
  expect(splitKey(packKey(repository, 'b'.repeat(40)))).toEqual({ place, part: { kind: 'pack', name: 'b'.repeat(40) } })
  expect(splitKey(lastIndexedKey(repository))).toEqual({ place, part: { kind: 'last', versions: VERSIONS } })
  expect(splitKey(hiddenKey(repository))).toEqual({ place, part: { kind: 'hidden' } })

  const at = keysAt(place)
  expect(at.header(snapshot)).toBe(headerKey(repository, commit))
  expect(headerKey(repository, commit).startsWith(at.headers)).toBe(true)
  expect(headersPrefix(repository)).toBe(at.headers)
  expect(at.pack('ff')).toBe(packKey(repository, 'ff'))
  expect(at.queueMarker(snapshot)).toBe(queueKey(repository, commit))
  expect(splitKey(at.unusedPacks)).toEqual({ place, part: { kind: 'unusedPacks' } })
})

test('a listing names the header that it accompanies', () => {
  const commit = 'a'.repeat(40) as CommitSha
  const repository = { id: 'gh-12', visibility: 'public' } as HostRepository
  expect(listedHeaderKey(ownerListingKey('gh-7', 'gh-12'), commit)).toBe(headerKey(repository, commit))
  expect(listedHeaderKey('ctl/owner/000/gh-7', commit)).toBeNull()
})

test.each([
  'probe/a',
  SWEEP_LEASE_KEY,
  'pub/000/gh-1',
  'pub/000/gh-1/',
  'pub/000/gh-1/x/y',
  'pub/000/gh-1/p/short',
  `pub/000/gh-1/c/${'a'.repeat(40)}`,
  `pub/000/gh-1/c/${'a'.repeat(40)}/r1/f1`,
  `pub/xyz/gh-1/p/${'a'.repeat(40)}`,
  'ctl/kept/pub/000/gh-1/other',
  'ctl/job/pub/000/gh-1/main.r1',
  'ctl/owner/000/gh-1/r1f1s1/gh-2',
  `ctl/queue/pub/000/gh-1/${'a'.repeat(40)}.r1`,
])('%s names nothing that is known of a repository', key => {
  expect(splitKey(key)).toBeNull()
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  )
}
