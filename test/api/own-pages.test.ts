import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'
import { BASE_URL } from '#test/support/test-app.ts'

let scene: PeopleScene
let browser: Browser
const lines: string[] = []
beforeAll(async () => {
  scene = await openPeopleScene({ logger: { level: 'info', stream: { write: (line: string) => void lines.push(line) } } })
  browser = await scene.signIn(scene.ada)
})
afterAll(() => scene.close())

const ID = '0'.repeat(24)
const BODY = { address: '/gh/acme/closed', label: 'x', expiresInDays: 1 }
/** What is answered to a page of the deployment. */
const CHANGES: [
  name: string,
  status: number,
  send: (headers: Headers) => Promise<{ status: number; json: unknown; body: string }>,
][] = [
  ['POST me/tokens', 201, headers => browser.post('/api/v1/me/tokens', BODY, headers)],
  ['DELETE me/tokens', 404, headers => browser.delete(`/api/v1/me/tokens/${ID}`, headers)],
  ['DELETE me/grants', 404, headers => browser.delete(`/api/v1/me/grants/${ID}`, headers)],
  ['POST oauth/decision', 400, headers => browser.post('/api/v1/oauth/decision', { request: 'x', approve: true }, headers)],
  ['POST sign-out', 400, headers => browser.submit('/auth/sign-out', { what: 'nothing' }, headers)],
]
type Headers = Record<string, string | undefined>

const OTHER = 'https://evil.example'
const SITES = ['same-origin', 'same-site', 'cross-site', 'none', '', 'SAME-ORIGIN', undefined]
const ORIGINS = [BASE_URL, `${BASE_URL}/`, `${BASE_URL}:443`, 'http://mountglass.test', OTHER, 'null', '', undefined]

for (const [name, ownStatus, send] of CHANGES) {
  test(`v5.0.0-3.5.1: ${name} accepts pages of this deployment only: Sec-Fetch-Site and Origin are both checked if present`, async () => {
    for (const site of SITES) {
      for (const origin of ORIGINS) {
        const isOwn =
          (site === undefined || site === 'same-origin') &&
          (origin === undefined || origin === BASE_URL) &&
          !(site === undefined && origin === undefined)
        const answer = await send({ 'sec-fetch-site': site, origin })
        const wanted = isOwn ? ownStatus : 403
        expect([site, origin, answer.status]).toEqual([site, origin, wanted])
        if (!isOwn) expect(answer.json).toMatchObject({ error: { code: 'auth.forbidden_origin' } })
      }
    }
  })
}

test('the origin of a request is checked before its sender, and its sender before its body', async () => {
  const nobody = scene.browser()
  const statusOf = async (answer: Promise<{ status: number; json: { error: { code: string } } }>) => {
    const { status, json } = await answer
    return [status, json.error.code]
  }
  const foreign = { 'sec-fetch-site': 'cross-site', origin: OTHER }
  const types = [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'x/y',
    undefined,
  ]
  for (const type of types) {
    for (const body of ['{', '', '{}', 'a=b']) {
      const headers = { 'content-type': type }
      const url = '/api/v1/me/tokens'
      expect(await statusOf(nobody.post(url, body, { ...headers, ...foreign }))).toEqual([403, 'auth.forbidden_origin'])
      expect(await statusOf(browser.post(url, body, { ...headers, ...foreign }))).toEqual([403, 'auth.forbidden_origin'])
      expect(await statusOf(nobody.post(url, body, headers))).toEqual([401, 'auth.required'])
      expect(await statusOf(browser.post(url, body, headers)), `${type} ${body}`).toEqual([400, 'token.invalid'])
    }
  }
  expect(await statusOf(nobody.delete('/api/v1/me/tokens/x'))).toEqual([401, 'auth.required'])
  expect(await statusOf(nobody.delete(`/api/v1/me/grants/${ID}`))).toEqual([401, 'auth.required'])
})

test('v5.0.0-3.4.2 and v5.0.0-3.5.2: other origins may read public answers, and never with credentials', async () => {
  const headers = { origin: OTHER, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
  for (const url of ['/api/v1/me', '/api/v1/me/tokens', `/api/v1/me/tokens/${ID}`, '/api/v1/oauth/decision']) {
    const { statusCode, headers: answered } = await scene.app.inject({ method: 'OPTIONS', url, headers })
    expect([statusCode, answered['access-control-allow-origin']]).toEqual([204, '*'])
    expect(answered['access-control-allow-credentials']).toBeUndefined()
  }
})

test('v5.0.0-3.5.3: no method that is safe changes anything', async () => {
  for (const url of ['/auth/sign-out', '/auth/sign-out?what=everywhere', '/api/v1/me/tokens/x', '/api/v1/me/grants/x']) {
    const { statusCode } = await scene.app.inject({
      method: 'GET',
      url,
      headers: { cookie: `__Host-session=${browser.cookies.get('__Host-session')}` },
    })
    expect(statusCode).toBe(405)
  }
  expect((await browser.get('/api/v1/me')).json.user.login).toBe('ada')
})

test('v5.0.0-16.3.3: a refused origin is in the audit log', () => {
  expect(lines.map(line => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ audit: 'origin.refused', ip: '127.0.0.1' }),
  )
})
