import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatToken, hashToken, isTokenOfHash, type ParsedToken, parseToken } from '#api/people/token-text.ts'

const recordId = fc.uint8Array({ minLength: 12, maxLength: 12 }).map(bytes => Buffer.from(bytes).toString('hex'))
const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })
const parts: fc.Arbitrary<ParsedToken> = fc.oneof(
  fc.record({ kind: fc.constantFrom('agent' as const, 'session' as const), person: recordId, id: recordId }),
  fc.record({
    kind: fc.constantFrom('access' as const, 'refresh' as const),
    person: recordId,
    grant: recordId,
    family: recordId,
  }),
)

test('a token names its record, and has the width that scanners match', () => {
  fc.assert(
    fc.property(parts, secret, (given, bytes) => {
      const text = formatToken(given, bytes)
      expect(parseToken(text)).toEqual(given)
      expect(text).toMatch(/^\bmg[pars]_[0-9A-Za-z]{83,100}\b$/)
      expect(text).toHaveLength('id' in given ? 87 : 104)
    }),
  )
})

test('a token with any one character changed, left out or added is no token', () => {
  fc.assert(
    fc.property(parts, secret, fc.nat(), fc.constantFrom(...'0Aaz-_ \u0130'), (given, bytes, at, other) => {
      const text = formatToken(given, bytes)
      const index = at % text.length
      const changed = text.slice(0, index) + other + text.slice(index + 1)
      if (changed !== text) expect(parseToken(changed)).toBeNull()
      expect(parseToken(text.slice(0, index) + text.slice(index + 1))).toBeNull()
      expect(parseToken(text.slice(0, index) + other + text.slice(index))).toBeNull()
      expect(parseToken(text.slice(0, index))).toBeNull()
    }),
    { numRuns: 500 },
  )
})

test('random text of the form of a token is no token', () => {
  const body = fc.string({ unit: fc.constantFrom(...'0123456789ABCabc'), minLength: 83, maxLength: 83 })
  fc.assert(
    fc.property(body, text => {
      expect(parseToken(`mgp_${text}`)).toBeNull()
    }),
  )
})

test('every token has one spelling: a number that needs more bytes is refused, checksum or not', () => {
  const text = formatToken({ kind: 'agent', person: 'f'.repeat(24), id: '0'.repeat(24) }, new Uint8Array(32).fill(255))
  expect(parseToken(text)).not.toBeNull()
  // 62^17 - 1 is more than 12 bytes hold.
  expect(parseToken(`mgp_${'z'.repeat(17)}${text.slice(21)}`)).toBeNull()
})

test('a record keeps a hash, of which only its token is the token', () => {
  const [one, other] = [1, 2].map(byte =>
    formatToken({ kind: 'session', person: '0'.repeat(24), id: '1'.repeat(24) }, new Uint8Array(32).fill(byte)),
  ) as [string, string]
  expect(isTokenOfHash(one, hashToken(one))).toBe(true)
  expect(isTokenOfHash(other, hashToken(one))).toBe(false)
  expect(isTokenOfHash(one, '')).toBe(false)
})
