import { expect, test } from 'vitest'
import { cookiesOf } from '#api/people/cookies.ts'
import { createRecordIds, formatIdKey, parseIdKey } from '#api/people/records.ts'
import { bearerOf, cookieOf, isSameOrigin } from '#api/people/request-credentials.ts'
import { formatToken } from '#api/people/token-text.ts'
import { scrubbed } from '#words/scrubbed.ts'

test('v5.0.0-16.2.5: a line of the log loses everything like a credential, at any position', () => {
  const token = formatToken({ kind: 'agent', person: 'a'.repeat(24), id: 'b'.repeat(24) }, new Uint8Array(32).fill(3))
  const jwt = `eyJ${'aB3_-'.repeat(9)}.${'x'.repeat(40)}.${'y-_'.repeat(90)}`
  const secrets = [
    token,
    `ghu_${'a1'.repeat(18)}`,
    `ghr_${'b2'.repeat(38)}`,
    `gho_${'c'.repeat(36)}`,
    `ghs_1234_${jwt}`,
    `ghs_${'d'.repeat(36)}`,
    `ghp_${'e'.repeat(36)}`,
    jwt,
    `${jwt}..z`,
  ]
  for (const secret of secrets) {
    for (const line of [secret, `{"a":{"b":{"c":"${secret}"}}}`, `url=/x?y=${secret}&z=1`, `Bearer ${secret}, twice ${secret}`]) {
      const written = scrubbed(line)
      expect(written).toContain('[credential]')
      for (const part of secret.split('.').filter(one => one.length > 12)) expect(written).not.toContain(part)
    }
  }
  expect(scrubbed('{"path":"/gh/acme/tools","id":"0123456789abcdef01234567","hey":"eyJ"}')).toBe(
    '{"path":"/gh/acme/tools","id":"0123456789abcdef01234567","hey":"eyJ"}',
  )
})

const URLS = [
  'http://user:hush@proxy:3128/',
  'http://user:hu@sh@proxy:3128/',
  'postgres://user:hu@sh@db.example.org/mountglass',
  'postgres://user:hu/sh@db.example.org/mountglass',
  'https://:hush@s3.example.org',
  'https://hush@github.com/acme/tools',
  'postgres://db.example.org/mountglass?user=a&password=hush&sslmode=require',
]

test.each(URLS)('a line loses the credentials of %s', url => {
  for (const line of [url, `no answer of ${url} to http://host/a@b`, JSON.stringify({ input: url })]) {
    const written = scrubbed(line)
    expect(written).toContain('[credential]')
    expect(written).not.toMatch(/hu.?sh|user:|sh@/)
    expect(written).toMatch(/proxy:3128|db\.example\.org|s3\.example\.org|github\.com\/acme/)
  }
  expect(scrubbed(`${url} http://host/a@b`)).toMatch(/ http:\/\/host\/a@b$/)
})

test.each([
  'http://127.0.0.1:4321/local/acme/tools@main',
  'http://[::1]:4321/gh/a/b@v1',
  'https://github.com/a/b@v1',
  'a@example.org',
])('a line keeps %s', url => {
  expect(scrubbed(`{"url":"${url}"}`)).toBe(`{"url":"${url}"}`)
})

test('cookies are bound to the host wherever browsers take Secure, and only there', () => {
  for (const origin of [
    'https://skills.example.org',
    'http://127.0.0.1:4321',
    'http://localhost:1',
    'http://[::1]:4321',
    'http://a.localhost',
  ])
    expect(cookiesOf(origin).session.set('x'), origin).toMatch(/^__Host-session=x; Path=\/; Secure; HttpOnly; SameSite=Lax/)
  for (const origin of ['http://skills.example.org', 'http://10.0.0.1:4321', 'http://localhost.example.org', 'http://128.0.0.1'])
    expect(cookiesOf(origin).session.set('x'), origin).toMatch(/^session=x; Path=\/; HttpOnly; SameSite=Lax/)
})

test('v5.0.0-15.3.7: a duplicate cookie is ignored, and names match whole', () => {
  expect(cookieOf({ cookie: 'a=1; session=x' }, 'session')).toBe('x')
  expect(cookieOf({ cookie: 'session=x; session=y' }, 'session')).toBeNull()
  expect(cookieOf({ cookie: 'xsession=x; session2=y; Session=z' }, 'session')).toBeNull()
  expect(cookieOf({}, 'session')).toBeNull()
  expect(cookieOf({ cookie: 'session=a=b' }, 'session')).toBe('a=b')
})

test('a bearer token is read from the header, and other schemes give none', () => {
  expect(
    ['Bearer x', 'bearer x', 'BEARER   x', 'Bearer', 'Bearer ', 'Bearer x y', 'Basic x', 'Bearerx', ''].map(authorization =>
      bearerOf({ authorization }),
    ),
  ).toEqual(['x', 'x', 'x', '', '', 'x y', null, null, null])
  expect(bearerOf({})).toBeNull()
})

test('an origin is compared as a text', () => {
  expect(isSameOrigin({ origin: 'https://a.example' }, 'https://a.example')).toBe(true)
  expect(isSameOrigin({ origin: 'https://A.example' }, 'https://a.example')).toBe(false)
  expect(isSameOrigin({ origin: 'https://a.example, https://a.example' }, 'https://a.example')).toBe(false)
})

test('record ids are the same for the same key, and of another key nothing is the same', () => {
  const [one, same, other] = [1, 1, 2].map(byte => createRecordIds(new Uint8Array(32).fill(byte)))
  expect(one?.person('gh-1')).toMatch(/^[0-9a-f]{24}$/)
  expect(one?.person('gh-1')).toBe(same?.person('gh-1'))
  const places = [
    one?.person('gh-1'),
    one?.person('gh-2'),
    other?.person('gh-1'),
    one?.operator(),
    one?.grant('a', 'c', 'r'),
    one?.grant('a', 'c', 's'),
    one?.grant('b', 'c', 'r'),
  ]
  expect(new Set(places).size).toBe(places.length)
})

test('an id key is 32 bytes in base64url', () => {
  const key = new Uint8Array(32).fill(255)
  expect(parseIdKey(formatIdKey(key))).toEqual(key)
  for (const text of ['', 'x', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}=`]) expect(parseIdKey(text)).toBeNull()
})
