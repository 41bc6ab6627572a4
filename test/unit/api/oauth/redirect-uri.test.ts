import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRegistered, parseRedirectUri, type RedirectUri, withParameters } from '#api/oauth/redirect-uri.ts'

const ALLOWED: [text: string, kind: RedirectUri['kind'], host: string][] = [
  ['https://app.example/callback', 'web', 'app.example'],
  ['https://app.example:8443/cb?a=1&b=2', 'web', 'app.example'],
  ['https://app.example', 'web', 'app.example'],
  ['https://app.example/a@b', 'web', 'app.example'],
  ['http://localhost/callback', 'loopback', 'localhost'],
  ['http://127.0.0.1:33418/', 'loopback', '127.0.0.1'],
  ['http://[::1]:33418/cb?x=1', 'loopback', '[::1]'],
  ['cursor://anysphere.cursor-retrieval/oauth/callback', 'application', 'cursor'],
  ['com.example.app:/oauth', 'application', 'com.example.app'],
  ['vscode://vscode.github-authentication/did-authenticate', 'application', 'vscode'],
]

const REFUSED = [
  '',
  '/callback',
  '//app.example/callback',
  'app.example/callback',
  'http://app.example/callback',
  'http://127.0.0.2/callback',
  'http://127.1/callback',
  'http://0x7f000001/callback',
  'http://2130706433/callback',
  'http://localhost.example/callback',
  'http://localhost:99999/callback',
  'http://localhost:/x@evil.example:80@',
  'http://localhost@evil.example/callback',
  'http://[::ffff:127.0.0.1]/callback',
  'https://user@app.example/callback',
  'https://user:word@app.example/callback',
  'https://@app.example/callback',
  'https://app.example/callback#fragment',
  'https://app.example/callback#',
  'https://app.example\\callback',
  'https://app.example/a b',
  'https://app.example/\tcb',
  'https://app.example/\ncb',
  ' https://app.example/cb',
  'https://app.example/cb\u0000',
  'https://app.exämple/cb',
  'https:app.example/cb',
  'https:///app.example/cb#',
  'HTTPS:/app.example/cb',
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://app.example/x',
  'about:blank',
  'ws://app.example/',
  'wss://app.example/',
  'ftp://app.example/',
  'mailto:a@b.example',
  'view-source:https://app.example/',
  'intent://x#Intent;end',
  'cursor://user@host/cb',
  'cursor:',
  'https://app.example/<script>',
  `https://app.example/${'a'.repeat(1_000)}`,
]

describe('redirect URIs', () => {
  test.each(ALLOWED)('%s is allowed', (text, kind, host) => {
    expect(parseRedirectUri(text)).toMatchObject({ kind, host, text })
  })

  test.each(REFUSED)('%j is refused', text => {
    expect(parseRedirectUri(text)).toBeNull()
  })

  test('an allowed text is one that a browser takes to the host that is shown', () => {
    const scheme = fc.constantFrom('https://', 'http://', 'cursor://', 'javascript:', 'HTTP://', 'https:', '')
    const host = fc.constantFrom(
      'localhost',
      '127.0.0.1',
      '[::1]',
      'app.example',
      'localhost@evil.example',
      'a.b:8',
      'localhost:8',
    )
    const rest = fc.string({ unit: 'grapheme-ascii', maxLength: 8 })
    fc.assert(
      fc.property(scheme, host, rest, (first, second, third) => {
        const parsed = parseRedirectUri(`${first}${second}${third}`)
        if (parsed === null) return
        const { protocol, hostname, username, password, hash } = new URL(parsed.text)
        expect({ username, password, hash }).toEqual({ username: '', password: '', hash: '' })
        expect(parsed.kind === 'application' ? `${parsed.host}:` : parsed.host).toBe(
          parsed.kind === 'application' ? protocol : hostname,
        )
        expect(parsed.text).not.toMatch(/[\s\\#]|\p{Cc}/u)
        if (protocol === 'http:') expect(['localhost', '127.0.0.1', '[::1]']).toContain(hostname)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the redirect URIs of a registration', () => {
  const REGISTERED = ['https://app.example/cb', 'http://localhost:1234/cb?x=1', 'http://127.0.0.1/', 'cursor://app/cb']

  test.each([
    ['https://app.example/cb', true],
    ['http://localhost:1234/cb?x=1', true],
    ['http://localhost:4321/cb?x=1', true],
    ['http://localhost/cb?x=1', true],
    ['http://127.0.0.1:55555/', true],
    ['cursor://app/cb', true],
    ['https://app.example/cb/', false],
    ['https://app.example/cb?x=1', false],
    ['https://app.example:443/cb', false],
    ['https://APP.example/cb', false],
    ['https://app.example/./cb', false],
    ['http://127.0.0.1:1234/cb?x=1', false],
    ['http://[::1]:1234/cb?x=1', false],
    ['http://localhost:1234/cb?x=2', false],
    ['http://localhost:1234/cb', false],
    ['http://localhost:1234/cb?x=1&y=2', false],
    ['http://127.0.0.1:55555', false],
    ['https://localhost:1234/cb?x=1', false],
    ['cursor://app:1/cb', false],
  ])('%s: %s', (text, expected) => {
    const parsed = parseRedirectUri(text)
    expect(parsed !== null && isRegistered(parsed, REGISTERED)).toBe(expected)
  })

  test('parameters are appended to a query, and to none', () => {
    const parameters = { code: 'a b', state: '&=#' }
    for (const uri of ['https://app.example/cb', 'https://app.example/cb?x=1', 'https://app.example/cb?', 'cursor://app/cb']) {
      const location = new URL(withParameters(uri, parameters))
      expect(location.searchParams.get('code')).toBe('a b')
      expect(location.searchParams.get('state')).toBe('&=#')
      expect(location.searchParams.get('x')).toBe(uri.includes('x=1') ? '1' : null)
      expect(location.hash).toBe('')
    }
  })
})
