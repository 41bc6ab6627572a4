import { afterAll, beforeAll, expect, test } from 'vitest'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import { type Answer, checkAnswer } from '#test/support/check-answer.ts'
import type { PublicName as Route } from '#test/support/personal-endpoints.ts'
import { type TestApp, testApp } from '#test/support/test-app.ts'

/** A request of every endpoint that may be answered. Those of people are absent where nobody signs in. */
const URLS: Record<Route, string> = {
  mounts: '/api/v1/mounts/local/acme/tools',
  browse: '/api/v1/browse/local/acme/tools',
  findings: '/api/v1/findings/local/acme/tools',
  find: '/api/v1/find/local/acme/tools?query=x',
  skills: '/api/v1/skills/local/acme/tools?path=x',
  files: '/api/v1/files/local/acme/tools?path=x',
  changes: '/api/v1/changes/local/acme/tools?from=main',
  history: '/api/v1/history/local/acme/tools?path=x',
  refs: '/api/v1/refs/local/acme/tools',
  featured: '/api/v1/featured',
  owners: '/api/v1/owners/gh/acme',
  showcase: '/api/v1/showcase',
  legal: '/api/v1/legal/terms',
}
const pathOf = (route: Route) => URLS[route].replace(/\?.*$/, '')
const ROUTES = Object.keys(URLS) as Route[]
const PATHS = ROUTES.map(pathOf)

let app: TestApp
let log = ''
beforeAll(async () => {
  app = await testApp(
    { 'acme/tools': { 'a.md': '# A\n' } },
    {
      github: { withToken: true },
      logger: {
        level: 'trace',
        stream: {
          write(line: string) {
            log += line
          },
        },
      },
    },
  )
})
afterAll(() => app.close())

test.for(ROUTES)('%s answers HEAD with the headers of GET and without a body', async route => {
  const url = URLS[route]
  const [get, head] = [await app.get(url), await app.get(url, { method: 'HEAD' })]
  expect(head.body).toBe('')
  expect(head.status).toBe(get.status)
  expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.body)))
  expect(head.headers['content-type']).toBe(get.headers['content-type'])
})

test.for([...PATHS, '/api/v1/nothing', '/api/v1/openapi.json'])(
  'OPTIONS of %s is answered for any origin, without credentials',
  async url => {
    const preflight = { origin: 'https://example.org', 'access-control-request-method': 'GET' }
    for (const headers of [preflight, { origin: 'https://example.org' }, {}]) {
      const answer = await app.get(url, { method: 'OPTIONS', headers })
      expect([answer.status, answer.body]).toEqual([204, ''])
    }
    const { headers } = await app.get(url, { method: 'OPTIONS', headers: preflight })
    expect(headers['access-control-allow-methods']).toBe('GET, HEAD, DELETE, POST')
  },
)

test.for(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
  '%s on a route of the interface is 405 with Allow, with or without a body',
  async method => {
    for (const url of [...PATHS, '/api/v1/openapi.json']) {
      const bodies = [
        {},
        { payload: '{', headers: { 'content-type': 'application/json' } },
        { payload: 'x', headers: { 'content-type': 'a/b' } },
      ]
      for (const body of bodies) {
        const answer = await app.get(url, { method, ...body })
        expect([answer.status, answer.json.error.code, answer.headers.allow]).toEqual([
          405,
          'request.method_not_allowed',
          'GET, HEAD, OPTIONS',
        ])
      }
    }
  },
)

test('an unknown route of the API names the description of all routes', async () => {
  for (const url of ['/api/v1', '/api/v1/', '/api/v1/nothing']) {
    const [named = ''] = /\/api\/v1\/\S+/.exec((await app.get(url)).json.error.message) ?? []
    expect((await app.get(named)).json.openapi, url).toMatch(/^3\./)
  }
})

test.for([
  '/api/v1/nothing',
  '/api/v1/mounts',
  '/api/v1/',
  '/api/v1/mounts2/local/acme/tools',
  '/api/v1/openapi.json/x',
  '/%61pi/v1/mounts/~',
  '/api/v1/%66eatured',
  '/api/v1/openapi%2ejson',
  '/%72eadyz',
  '/%72eadyz?x=%20',
])('%s is 404 request.not_found for every method', async url => {
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE'] as const) {
    const answer = await app.get(url, { method })
    expect(answer.status).toBe(404)
    if (method !== 'HEAD') expect(answer.json.error.code).toBe('request.not_found')
  }
})

test('a path that does not decode is 400 with the headers of every answer', async () => {
  for (const url of ['/api/v1/%ZZ', '/api/v1/%FF', '/api/v1/%', '/%']) {
    const answer = await app.get(url)
    expect([answer.status, answer.json.error.code]).toEqual([400, 'request.invalid'])
  }
})

test('a body of a GET is not read, and the request answered', async () => {
  const answer = await app.get('/api/v1/mounts/local/acme/tools', {
    payload: '{',
    headers: { 'content-type': 'application/json' },
  })
  expect(answer.status).toBe(200)
})

const INVALID: readonly [Route, string][] = [
  ['mounts', '?x=1'],
  ['mounts', '?__proto__=1'],
  ['mounts', '?%=1'],
  ['browse', '?limit=0'],
  ['browse', '?limit=201'],
  ['browse', '?limit='],
  ['browse', '?limit'],
  ['browse', '?limit=1e2'],
  ['browse', '?limit=+5'],
  ['browse', '?limit=%2B5'],
  ['browse', '?limit=%205'],
  ['browse', '?limit=5.0'],
  ['browse', '?limit=-1'],
  ['browse', '?limit=0x10'],
  ['browse', '?limit=%D9%A5'],
  ['browse', '?limit=9999999999'],
  ['browse', '?limit=5&limit=5'],
  ['browse', '?path=a&path=a'],
  ['browse', '?offset=1'],
  ['browse', '?Limit=5'],
  ['browse', '?path=%FF'],
  ['browse', '?path=%ZZ'],
  ['browse', `?path=${'a'.repeat(9000)}`],
  ['find', ''],
  ['find', '?query='],
  ['find', '?query=%20%09'],
  ['find', `?query=${'x'.repeat(501)}`],
  ['find', '?query=x&limit=26'],
  ['skills', ''],
  ['skills', '?path='],
  ['skills', '?path=x&limit=5'],
  ['files', ''],
  ['files', '?path=x&limit=100001'],
  ['files', '?path=x&limit=0'],
  ['files', '?path=x&offset=-1'],
  ['files', '?path=x&cursor=x'],
  ['featured', '?x=1'],
  ['featured', '?limit=1'],
  ['owners', '?page=0'],
  ['owners', '?page=101'],
  ['owners', '?page='],
  ['owners', '?page=1e1'],
  ['owners', '?page=-1'],
  ['owners', '?page=1&page=2'],
  ['owners', '?limit=1'],
]
test.for(INVALID)('%s%s is 400 request.invalid', async ([route, query]) => {
  const answer = await app.get(pathOf(route) + query)
  expect([answer.status, answer.json.error.code]).toEqual([400, 'request.invalid'])
})

test('a query at its bounds is valid: 500 characters however many bytes, an integer with leading zeros', async () => {
  expect((await app.get(`/api/v1/find/local/acme/tools?query=${encodeURIComponent('🎻'.repeat(500))}&limit=25`)).status).toBe(200)
  expect((await app.get('/api/v1/browse/local/acme/tools?limit=007')).status).toBe(200)
  expect((await app.get('/api/v1/browse/local/acme/tools?')).status).toBe(200)
})

test('the request id is created by the service, whatever id the client sends', async () => {
  const { headers } = await app.get('/api/v1/mounts/local/acme/tools', {
    headers: { 'x-request-id': 'mine', 'request-id': 'mine' },
  })
  expect(headers['x-request-id']).not.toBe('mine')
})

test('links use the configured origin, whatever host the request names', async () => {
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
  const answers = [
    await app.get('/api/v1/mounts/local/acme/tools', { headers }),
    await app.get('/api/v1/openapi.json', { headers }),
  ]
  for (const answer of answers) expect(answer.body + JSON.stringify(answer.headers)).not.toContain('evil')
})

test('the log has route, status and duration of a request, and no query, cookie or credential', async () => {
  const headers = { cookie: 'session=crumbs', authorization: 'Bearer mgp_tell-no-one' }
  log = ''
  await app.get('/api/v1/find/local/acme/tools?query=private-words', { headers: { cookie: headers.cookie } })
  await app.get('/api/v1/browse/local/acme/tools?cursor=sealed-cursor', { headers })
  await app.get('/api/v1/files/local/acme/tools?private-words=1&path=private-path', { headers })
  expect(log).toContain('/api/v1/find/local/acme/tools')
  expect(log).toMatch(/"status":200/)
  for (const secret of ['private-words', 'sealed-cursor', 'private-path', 'crumbs', 'tell-no-one'])
    expect(log).not.toContain(secret)
})

test('v5.0.0-16.5.1: an unexpected error is 500 without details, and its details are in the log', async () => {
  const broken = await testApp(
    { 'acme/tools': { 'a.md': '# A\n' } },
    {
      deps: deps => ({
        ...deps,
        hosts: deps.hosts.map(host => ({
          ...host,
          segment: 'local',
          repository: () => Promise.reject(new Error('secret detail')),
        })),
      }),
    },
  )
  try {
    const answer = await broken.get('/api/v1/mounts/local/acme/tools')
    expect([answer.status, answer.json.error.code]).toEqual([500, 'service.internal'])
    expect(answer.body).not.toContain('secret detail')
  } finally {
    await broken.close()
  }
})

test('a host that does not answer is 503, with Retry-After when the wait is known', async () => {
  const answers = [
    [{ status: 'rate_limited', retryAfterSeconds: 17.2 }, 'mount.rate_limited', '18'],
    [{ status: 'rate_limited', retryAfterSeconds: null }, 'mount.rate_limited', undefined],
    [{ status: 'unavailable', retryAfterSeconds: 5 }, 'mount.unavailable', '5'],
  ] as const
  for (const [hostAnswer, code, retryAfter] of answers) {
    for (const method of ['repository', 'resolve'] as const) {
      const limited = await testApp(
        { 'acme/tools': { 'a.md': '# A\n' } },
        {
          deps: deps => ({
            ...deps,
            hosts: deps.hosts.map(host => ({
              ...host,
              repository: (owner, name) => (method === 'repository' ? Promise.resolve(hostAnswer) : host.repository(owner, name)),
              resolve: () => Promise.resolve(hostAnswer),
              tip: repository => host.tip(repository),
              open: (repository, commit, limits) => host.open(repository, commit, limits),
              close: () => host.close(),
            })),
          }),
        },
      )
      try {
        const answer = await limited.get('/api/v1/mounts/local/acme/tools')
        expect([answer.status, answer.json.error.code, answer.headers['retry-after']]).toEqual([503, code, retryAfter])
      } finally {
        await limited.close()
      }
    }
  }
})

test('a queue that takes no job is 503 skill.unavailable', async () => {
  const offer = () => Promise.reject(new Error('no space left on device'))
  const refusing = <Queue extends object>(queue: Queue) => ({ ...queue, offer })
  const full = await testApp({ 'acme/tools': { 'a.md': '# A\n' } }, { deps: deps => ({ ...deps, queue: refusing(deps.queue) }) })
  try {
    for (const route of ROUTES.filter(name => ENDPOINTS[name].subject === 'address' && name !== 'refs')) {
      const answer = await full.get(URLS[route])
      expect([answer.status, answer.json.error.code]).toEqual([503, 'skill.unavailable'])
    }
  } finally {
    await full.close()
  }
})

test('healthz reports the process, readyz the store', async () => {
  expect((await app.get('/healthz')).json).toEqual({ status: 'ok' })
  expect((await app.get('/readyz')).json).toEqual({ status: 'ready' })
  const away = await testApp({}, { deps: deps => ({ ...deps, checkReady: () => Promise.reject(new Error('disk is gone')) }) })
  try {
    const ready: Answer = await away.get('/readyz')
    expect([ready.status, ready.json]).toEqual([503, { status: 'unavailable' }])
    expect((await away.get('/healthz')).status).toBe(200)
  } finally {
    await away.close()
  }
})

test('the check of answers that all these tests rest on notices a missing header and an unknown field', () => {
  const headers = {
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'x-request-id, retry-after, etag',
    'x-content-type-options': 'nosniff',
    'x-request-id': '00000000-0000-0000-0000-000000000000',
    'content-type': 'application/json; charset=utf-8',
  }
  const error = (more: object) => JSON.stringify({ error: { code: 'file.not_found', message: 'none', ...more } })
  const check = (answer: Partial<Answer>) => () =>
    checkAnswer('/api/v1/files/local/a/b?path=x', 'GET', { status: 404, headers, body: error({}), ...answer })
  expect(check({})).not.toThrow()
  for (const name of Object.keys(headers)) {
    if (name !== 'content-type') expect(check({ headers: { ...headers, [name]: undefined } }), name).toThrow()
  }
  expect(check({ status: 400 })).toThrow()
  expect(check({ body: error({ surprise: 1 }) })).toThrow()
  expect(check({ status: 200, body: JSON.stringify({ kind: 'file' }) })).toThrow()
})
