import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ERROR_STATUS } from '#core/errors.ts'
import { createApiClient } from '#site/lib/api-client.ts'
import { injectTransport, sitePlugin } from '#site/server.ts'
import { PATIENT_RENDERING } from '#test/support/patient.ts'
import { sendRaw } from '#test/support/raw-socket.ts'
import { type TestApp, type TestAppOptions, testApp } from '#test/support/test-app.ts'
import { ensureBuilt } from './support/built-site.ts'

/** Requests of chance: as many as take a few seconds. */
const RUNS = 300
const END = 'host: x\r\nconnection: close\r\n\r\n'
const PAGE = '/local/acme/tools'

let app: TestApp
let port: number
const lines: string[] = []
beforeAll(async () => {
  await ensureBuilt()
  app = await serve({})
  port = portOf(app)
})
afterAll(() => app.close())

const portOf = ({ app }: TestApp) => (app.server.address() as AddressInfo).port

/** The service with pages. @param patience with its clients */
async function serve(patience: Pick<TestAppOptions, 'clients' | 'hookBodies'>): Promise<TestApp> {
  const started = await testApp(
    { 'acme/tools': { 'package.json': '{"license":"MIT"}\n', 'docs/a.md': '# A\n' } },
    {
      github: { withToken: true },
      ...patience,
      logger: { level: 'warn', stream: { write: (line: string) => lines.push(line) } },
      site: async instance => {
        const client = createApiClient(injectTransport(instance))
        await instance.register(sitePlugin, {
          client,
          baseUrl: 'https://mountglass.example',
          hosts: ['local', 'gh'],
          rendering: PATIENT_RENDERING,
        })
      },
    },
  )
  await started.app.listen({ host: '127.0.0.1', port: 0 })
  await started.open(PAGE)
  return started
}

const send = (bytes: string) => sendRaw(port, bytes)
const get = (target: string, headers = '') => send(`GET ${target} HTTP/1.1\r\n${headers}${END}`)

/** The routes of the service, one of each kind, with what they allow. */
const ROUTES: readonly (readonly [target: string, allow: string])[] = [
  ['/', 'GET, HEAD'],
  ['/open', 'GET, HEAD'],
  ['/search', 'GET, HEAD'],
  ['/suggest', 'GET, HEAD'],
  [PAGE, 'GET, HEAD'],
  [`${PAGE}/%ZZ`, 'GET, HEAD'],
  ['/owners/gh/acme', 'GET, HEAD'],
  ['/icon.svg', 'GET, HEAD'],
  ['/favicon.ico', 'GET, HEAD'],
  ['/healthz', 'GET, HEAD'],
  ['/media/x', 'GET, HEAD'],
  ['/git/local/acme/tools/raw/x/y', 'GET, HEAD'],
  ['/hooks/github', 'POST'],
  ['/api/v1/featured', 'GET, HEAD, OPTIONS'],
]

describe('a method that a route does not have', () => {
  test.for(ROUTES)('is 405 on %s, with %s allowed', async ([target, allow]) => {
    for (const method of ['TRACE', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'FETCH', allow === 'POST' ? 'GET' : 'POST']) {
      const answer = await send(`${method} ${target} HTTP/1.1\r\ncontent-length: 1\r\ncontent-type: a/b\r\n${END}x`)
      expect([answer.status, answer.code, answer.headers.allow], method).toEqual([405, 'request.method_not_allowed', allow])
    }
  })

  test('is 404 where there is no route, and OPTIONS is answered by the interface alone', async () => {
    for (const method of ['TRACE', 'POST', 'DELETE', 'OPTIONS', 'FETCH'])
      expect((await send(`${method} /nothing HTTP/1.1\r\n${END}`)).status, method).toBe(404)
    expect((await send(`OPTIONS ${PAGE} HTTP/1.1\r\n${END}`)).status).toBe(405)
    expect((await send(`OPTIONS /api/v1/featured HTTP/1.1\r\n${END}`)).status).toBe(204)
    expect((await send(`OPTIONS * HTTP/1.1\r\n${END}`)).status).toBe(404)
  })
})

test('no page depends on the host that a request names, and a malformed one is refused', async () => {
  const fromHost = (host: string, target = PAGE, headers = '') =>
    send(`GET ${target} HTTP/1.1\r\nhost: ${host}\r\n${headers}connection: close\r\n\r\n`)
  // A kept page would hide a difference, so each request has a URL of its own, which differs in its query.
  let asked = 0
  const rendered = async (host: string, headers = '') => {
    const query = `n=${++asked}`
    const { status, text, body } = await fromHost(host, `${PAGE}?${query}`, headers)
    return { status, text, body: body.replaceAll(query, 'n') }
  }
  const own = await rendered('mountglass.example')
  expect([own.status, own.body]).toEqual([200, expect.stringContaining('https://mountglass.example')])
  for (const host of ['evil.example:80', '127.0.0.1', 'a'.repeat(300), '%', '']) {
    const { status, body } = await rendered(host)
    expect([status, body], host).toEqual([200, own.body])
  }
  for (const host of ['x@y', 'a b', 'a/b', 'http://x', 'x:y', '[', '\xff', 'x,y?']) {
    const answer = await fromHost(host)
    expect([answer.status, answer.code], host).toEqual([400, 'request.invalid'])
  }
  const forwarded = 'x-forwarded-host: evil.example\r\nx-forwarded-proto: javascript\r\nforwarded: host=evil\r\n'
  const { status, body, text } = await rendered('evil.example', forwarded)
  expect([status, body, text.includes('evil')]).toEqual([200, own.body, false])
})

const STATIC: readonly (readonly [header: string, status: number])[] = [
  ['range: bytes=0-1', 206],
  ['range: bytes=-2', 206],
  ['range: bytes=2-', 206],
  ['range: bytes=0-99999999999999999999', 206],
  ['range: bytes=9-1', 416],
  ['range: bytes=99999999-', 416],
  ['range: bytes=99999999999999999999-', 416],
  ['range: bytes=-', 416],
  ['range: bytes=-0', 416],
  ['range: bytes=a-b', 416],
  ['range: bytes=0-1,9-12,9-1', 200],
  ['range: lines=1-2', 200],
  ['range: bytes', 200],
  ['if-match: "other"', 412],
  ['if-match: *', 200],
  ['if-unmodified-since: Thu, 01 Jan 1970 00:00:00 GMT', 412],
  ['if-unmodified-since: yesterday', 200],
  ['if-none-match: *', 304],
  ['if-modified-since: Fri, 31 Dec 9999 23:59:59 GMT', 304],
  ['if-modified-since: \xff', 200],
  ['range: bytes=0-1\r\nif-range: "other"', 200],
]
test.for(STATIC)('a static file with %j answers %i', async ([header, status]) => {
  const answer = await get('/icon.svg', `${header}\r\n`)
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers['x-content-type-options']).toBe('nosniff')
  if (status >= 400) expect(answer.body).toBe('')
})

test.for([
  ['a long target', `/local/acme/tools/${'a'.repeat(20_000)}`, 400],
  ['a long query', `${PAGE}?view=find&query=${'a'.repeat(20_000)}`, 400],
  ['an absolute form', `http://evil.example${PAGE}`, 200],
  ['an absolute form with a user', `http://a:b@evil.example${PAGE}`, 200],
  ['another scheme', `ftp://evil.example${PAGE}`, 200],
  ['a fragment', `${PAGE}#x`, 200],
  ['a bad escape', '/nothing/%ZZ', 400],
  ['parentheses and colons', '/nothing/:a(b', 404],
  ['parentheses and colons below the interface', '/api/v1/:a(b', 404],
  ['dots', `${PAGE}/../../x`, 400],
  ['a static file by an alias', '/%69con.svg', 404],
  ['a folder of static files', '/_a/', 404],
] as const)('%s is no fault of the service', async ([, target, status]) => {
  expect((await get(target)).status).toBe(status)
})

describe('requests of chance', () => {
  const token = fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'PATCH', 'QUERY', 'FETCH', 'get', '')
  const version = fc.oneof(
    { weight: 9, arbitrary: fc.constant('HTTP/1.1') },
    fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', ''),
  )
  const visible = fc.integer({ min: 0x21, max: 0xff }).map(code => String.fromCharCode(code))
  const piece = fc.oneof(
    visible,
    fc.constantFrom(
      '/',
      '//',
      '..',
      '.',
      '%',
      '%2',
      '%2e',
      '%2F',
      '%00',
      '%ZZ',
      '%C3%A4',
      '%FF',
      '?',
      '&',
      '=',
      '#',
      '@',
      '~',
      ';',
      ':',
      '(',
    ),
    fc.constantFrom(
      'view=',
      'path=',
      'query=',
      'cursor=',
      'offset=',
      'look=',
      'page=',
      'address=',
      'browse',
      'find',
      'skill',
      'file',
    ),
    fc.constantFrom('docs', 'a.md', 'acme', 'tools', 'gh', 'local', 'main', 'raw', 'http://', 'x'.repeat(300)),
  )
  const start = fc.constantFrom(
    ...ROUTES.map(([target]) => target),
    `${PAGE}/`,
    `${PAGE}@`,
    `${PAGE}?`,
    '/gh/acme/tools',
    '/owners/',
    '/owners/gh/',
    '/_a/',
    '/media/',
    '/git/local/acme/tools/raw/',
    '/open?address=',
    '/api/v1/files/local/acme/tools?path=',
    '/api/v1/owners/gh/',
    '*',
    '',
  )
  const name = fc.constantFrom(
    'range',
    'if-range',
    'if-match',
    'if-none-match',
    'if-modified-since',
    'accept-language',
    'accept',
    'cookie',
    'origin',
    'referer',
    'host',
    'expect',
    'upgrade',
    'connection',
    'content-type',
    'content-length',
    'transfer-encoding',
    'x-forwarded-host',
    'accept-encoding',
    'authorization',
    'x-http-method-override',
  )
  const value = fc.oneof(
    fc.array(visible, { maxLength: 10 }).map(characters => characters.join('')),
    fc.constantFrom(
      'bytes=9-1',
      'bytes=-1',
      'bytes=0-,1-',
      '*',
      'de-DE-x-ü;q=NaN',
      'en;q=2,*;q=-1',
      'chunked',
      '100-continue',
      'x@y',
      '0',
      '5',
      'text/html',
      'a\r\n b',
      'W/"x"',
    ),
  )
  const header = fc.tuple(name, value).map(([key, text]) => `${key}: ${text}\r\n`)
  const request = fc
    .tuple(
      token,
      start,
      fc.array(piece, { maxLength: 6 }),
      version,
      fc.array(header, { maxLength: 3 }),
      fc.constantFrom('', 'x', '0\r\n\r\n'),
    )
    .map(
      ([method, from, pieces, protocol, headers, body]) =>
        `${method} ${from}${pieces.join('')} ${protocol}\r\n${headers.join('')}${END}${body}`,
    )

  test('never cause an error of the service, and refused ones have a code of the interface', async () => {
    // Many of them do not end.
    const clients = { headersMs: 1_000, requestMs: 1_000, checkEveryMs: 20, lingerMs: 20 }
    const impatient = await serve({ clients, hookBodies: { totalBytes: 1_000_000, deadlineMs: 20 } })
    onTestFinished(() => impatient.close())
    lines.length = 0
    await fc.assert(
      fc.asyncProperty(request, async bytes => {
        const answer = await sendRaw(portOf(impatient), bytes)
        const documented = answer.status === 503 && ERROR_STATUS[answer.code as keyof typeof ERROR_STATUS] === 503
        expect(answer.status < 500 || documented, answer.text).toBe(true)
        if (answer.code !== undefined) expect(answer.status).toBe(ERROR_STATUS[answer.code as keyof typeof ERROR_STATUS])
        expect(answer.headers['x-request-id'], answer.text).toMatch(/^[0-9a-f-]{36}$/)
      }),
      { numRuns: RUNS, seed: 20_261_123, endOnFailure: true },
    )
    expect(lines.filter(line => line.includes('"level":50'))).toEqual([])
  })
})

test.each([
  ['with half an escape', '/%'],
  ['below the documentation', '/docs/%ff'],
  ['cut in a character', '/%E2%80?n=1'],
  ['of 3,000 characters', `/docs/${'a'.repeat(3_000)}`],
])(
  'a path %s, which no route can read, is a page for a browser, and the error of the interface for a program',
  async (_, url) => {
    const browser = await app.app.inject({ url, headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([browser.statusCode, browser.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8'])
    expect(browser.body).toContain('The link is wrong, or no longer right; start from the first page.')
    expect(browser.body.slice(browser.body.indexOf('<main'))).toMatch(/href="\/"/)
    const german = await app.app.inject({ url, headers: { accept: 'text/html', 'accept-language': 'de' } })
    expect(german.body).toContain('<html lang="de"')
    const program = await app.app.inject({ url })
    expect([program.statusCode, program.json().error.code]).toEqual([400, 'request.invalid'])
    const api = await app.app.inject({ url: '/api/v1/%', headers: { accept: 'text/html' } })
    expect(api.json().error.code).toBe('request.invalid')
  },
)
