import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Asked, type Asking, OTHER_REQUESTS, openAsking, REPOSITORY_REQUESTS } from '#test/support/route-requests.ts'
import { BASE_URL, testApp } from '#test/support/test-app.ts'
import { openPeopleSite, type PeopleSite } from './support/people-site.ts'

/* What holds for every route, whoever asks. `test/api/private-unseen.test.ts` shows that these are all of them. */

const CLOSED = '/gh/acme/closed'
const OPEN = '/gh/acme/tools'
/** Who asks, with the credential. */
const ASKERS = new Map<string, Record<string, string>>([['nobody in particular', {}]])

interface Answered {
  route: string
  asker: string
  asked: Asked
  /** The repository that is asked for; empty where none is. */
  address: string
  status: number
  headers: Record<string, string | undefined>
  body: string
}
const answers: Answered[] = []
let site: PeopleSite
let asking: Asking

beforeAll(async () => {
  site = await openPeopleSite({ baseUrl: BASE_URL })
  const ada = await site.signIn(site.ada)
  for (const address of [CLOSED, OPEN]) await ada.get(`/api/v1/mounts${address}`)
  await site.index()
  const { token } = (await ada.post('/api/v1/me/tokens', { address: CLOSED, label: 'x', expiresInDays: 1 })).json
  ASKERS.set('a session', { cookie: [...ada.cookies].map(pair => pair.join('=')).join('; ') })
  ASKERS.set('a token', { authorization: `Bearer ${token}` })
  asking = await openAsking(site.oauth, BASE_URL, [CLOSED, OPEN])
  for (const address of [CLOSED, OPEN])
    for (const [route, requests] of Object.entries(REPOSITORY_REQUESTS))
      for (const asked of requests(address, asking)) await askAsEach(route, asked, address)
  for (const [route, requests] of Object.entries(OTHER_REQUESTS))
    for (const asked of requests(asking)) await askAsEach(route, asked, '')
})
afterAll(() => site.close())

async function askAsEach(route: string, asked: Asked, address: string): Promise<void> {
  const { url, method = 'GET', headers, payload } = asked
  for (const [asker, credential] of ASKERS) {
    const answer = await site.app.inject({ method, url, headers: { ...headers, ...credential }, ...(payload && { payload }) })
    const { statusCode: status, body } = answer
    answers.push({ route, asker, asked, address, status, headers: answer.headers as Answered['headers'], body })
  }
}

const nameOf = ({ route, asker, address, status }: Answered) => `${route} ${address} ${status}: ${asker}`
/** The answers for which something does not hold. */
const failing = (holds: (answer: Answered) => boolean) => answers.filter(answer => !holds(answer)).map(nameOf)
const typeOf = ({ headers }: Answered) => String(headers['content-type'] ?? '').split(';')[0]
const policyOf = ({ headers }: Answered) => headers['content-security-policy'] ?? ''
const cacheOf = ({ headers }: Answered) => headers['cache-control'] ?? ''

test('every route was requested, and answers what its client may see', () => {
  expect(answers.length).toBeGreaterThan(300)
  const read = (asker: string, address: string) =>
    answers.filter(one => one.asker === asker && one.address === address && one.route === '/gh/~').map(({ status }) => status)
  expect(new Set(read('nobody in particular', CLOSED))).toEqual(new Set([404]))
  expect(read('a session', CLOSED)).toContain(200)
  expect(read('a token', CLOSED)).toContain(200)
  expect(failing(({ status }) => status < 500)).toEqual([])
})

test('v5.0.0-3.4.1: each answer of an https deployment has Strict-Transport-Security, and none of another one', async () => {
  expect(failing(({ headers }) => headers['strict-transport-security'] === 'max-age=31536000')).toEqual([])
  const plain = await testApp({}, { baseUrl: 'http://127.0.0.1:4000' })
  expect((await plain.app.inject('/healthz')).headers).not.toHaveProperty('strict-transport-security')
  await plain.close()
})

test('v5.0.0-3.4.3: each answer has a policy that allows only named sources', () => {
  expect(failing(answer => policyOf(answer).includes("default-src 'none'"))).toEqual([])
  expect(failing(answer => typeOf(answer) !== 'text/html' || !/'unsafe-/.test(policyOf(answer)))).toEqual([])
  expect(
    failing(answer => typeOf(answer) !== 'text/html' || /base-uri 'none'.*form-action 'self'/.test(policyOf(answer))),
  ).toEqual([])
})

test('v5.0.0-3.4.4: each answer has its media type and nosniff', () => {
  expect(failing(({ headers }) => headers['x-content-type-options'] === 'nosniff')).toEqual([])
  expect(failing(({ headers, body }) => body === '' || headers['content-type'] !== undefined)).toEqual([])
})

test('each text answer has a charset', () => {
  const isText = (answer: Answered) => typeOf(answer)?.startsWith('text/') ?? false
  expect(failing(answer => !isText(answer) || /; ?charset=utf-8$/i.test(answer.headers['content-type'] ?? ''))).toEqual([])
})

test('v5.0.0-3.4.5: no answer lets a browser send the path of a page to another origin', () => {
  const policies = ['same-origin', 'no-referrer', 'strict-origin-when-cross-origin']
  expect(failing(({ headers }) => policies.includes(headers['referrer-policy'] ?? ''))).toEqual([])
  expect(failing(answer => typeOf(answer) !== 'text/html' || answer.headers['referrer-policy'] !== policies[2])).toEqual([])
})

test('v5.0.0-3.4.6: no answer may be framed', () => {
  expect(failing(({ headers }) => headers['x-frame-options'] === 'DENY')).toEqual([])
  expect(failing(answer => /frame-ancestors 'none'|sandbox/.test(policyOf(answer)))).toEqual([])
})

test('v5.0.0-3.2.1: an answer that is no page is no document of this origin: its policy has no script, and drawings are sandboxed', () => {
  const others = answers.filter(answer => typeOf(answer) !== 'text/html')
  expect(others.length).toBeGreaterThan(100)
  expect(others.filter(answer => /script-src|unsafe-eval/.test(policyOf(answer))).map(nameOf)).toEqual([])
  const drawn = others.filter(answer => typeOf(answer)?.startsWith('image/'))
  expect(new Set(drawn.map(({ route }) => route))).toEqual(
    new Set(['/badge/~', '/icon/~', '/social/~', '/icon.svg', '/favicon.ico']),
  )
  expect(drawn.filter(answer => !policyOf(answer).includes('sandbox')).map(nameOf)).toEqual([])
})

/** What everybody gets alike: pictures, indexes of public repositories, metadata. */
const SHARED = [
  '/suggest',
  '/badge/~',
  '/icon/~',
  '/social/~',
  '/gh/~/llms.txt',
  '/gh/~/.well-known/agent-skills/',
  '/gh/~/.well-known/skills/',
  '/llms.txt',
  '/icon.svg',
  '/favicon.ico',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource/mcp/~',
]

test('v5.0.0-14.3.2: a browser stores only public answers', () => {
  const kept = answers.filter(answer => cacheOf(answer) !== 'no-store')
  expect([...new Set(kept.map(({ route }) => route))].sort()).toEqual([...SHARED].sort())
})

test('v5.0.0-14.2.2: a cacheable answer is the same for everybody, and has nothing of a private repository', () => {
  const kept = answers.filter(answer => cacheOf(answer).startsWith('public'))
  expect(kept.length).toBeGreaterThan(20)
  const forms = Map.groupBy(kept, ({ asked, headers }) => `${asked.url} ${headers['content-type']}`)
  for (const [url, given] of forms) {
    expect([url, given.map(({ asker }) => asker)]).toEqual([url, [...ASKERS.keys()]])
    expect([
      url,
      new Set(given.map(({ status, headers, body }) => `${status} ${headers.etag} ${headers['set-cookie']} ${body}`)).size,
    ]).toEqual([url, 1])
  }
  // The metadata of a resource names what was asked for, and nobody looks whether it exists.
  const isEmpty = ({ route, body }: Answered) => route === '/suggest' && body === '{"items":[]}'
  const closed = kept.filter(one => one.address === CLOSED && !one.route.startsWith('/.well-known/') && !isEmpty(one))
  expect(closed.map(nameOf)).toEqual([])
})

test('no answer sets a cookie, except sign-ins and the result of a form', () => {
  const given = answers.filter(({ headers }) => headers['set-cookie'] !== undefined).map(({ route }) => route)
  expect(new Set(given.filter(route => !/^\/(?:auth|account|oauth\/consent)/.test(route)))).toEqual(new Set())
})
