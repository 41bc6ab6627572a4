import fc from 'fast-check'
import { expect, test } from 'vitest'
import { returnPath } from '#api/people/sign-in.ts'

const ORIGIN = 'https://skills.example.org'

test.each(['/', '/gh/acme/tools', '/gh/acme/tools@main/docs?a=b&c=%2F', '/account#tokens', '/gh/a%20b'])(
  '%s is a place to return to',
  path => {
    expect(returnPath(path, ORIGIN)).toBe(path)
  },
)

test.each([
  undefined,
  '',
  'gh/acme',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '\t//evil.example',
  ' //evil.example',
  '/a\\..\\..\\//evil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/%2e//evil.example',
  `/${'ä'.repeat(1_000)}`,
  'https://evil.example',
  'https:evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  '/auth/sign-in',
  '/auth',
  '/x/../auth/sign-in',
  `/${'a'.repeat(3_000)}`,
])('%j leads to the front page', text => {
  expect(returnPath(text, ORIGIN)).toBe('/')
})

test('v5.0.0-3.7.2: no text leads a browser to another origin, or back into a sign-in', () => {
  const piece = fc.constantFrom(
    '/',
    '\\',
    '//',
    '..',
    '.',
    '@',
    ':',
    '?',
    '#',
    '\t',
    '\n',
    '\r',
    '\0',
    ' ',
    '%2f',
    '%5c',
    'evil.example',
    'https:',
    'auth',
    'javascript:',
    '\u2028',
    '\ud800',
    '／',
    '。',
  )
  const text = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map(parts => parts.join('')),
    fc.string({ unit: 'binary' }),
    fc.webUrl(),
  )
  fc.assert(
    fc.property(text, given => {
      const path = returnPath(given, ORIGIN)
      expect(path).toMatch(/^\/(?![/\\])/)
      // As a browser reads the header `location` of an answer of this origin.
      const url = new URL(path, `${ORIGIN}/auth/callback`)
      expect([url.origin, url.username]).toEqual([ORIGIN, ''])
      expect(url.pathname).not.toMatch(/^\/auth(\/|$)/)
    }),
    { numRuns: 3_000 },
  )
})
