import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HostRepository } from '#core/ports/git-host.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import { headerKey, jobKey, lastIndexedKey, packKey, queueKey } from '#core/snapshot/keys.ts'

test('the same value gives the same text, whatever the order of its keys, and parses to itself', () => {
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
  for (const keyOf of [jobKey, queueKey, lastIndexedKey]) {
    expect(keyOf(repository, commit)).toMatch(/^ctl\/[a-z]+\/pub\/[0-9a-f]{3}\/local-0123abcd\/[a-z0-9._/-]+$/)
    expect(keyOf(hidden, commit)).toBe(keyOf(repository, commit).replace('/pub/', '/prv/'))
  }
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
