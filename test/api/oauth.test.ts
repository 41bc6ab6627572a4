import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHALLENGE, type Parameters, REDIRECT, VERIFIER } from '#test/support/oauth-scene.ts'
import { type Browser, openPeopleScene, type PeopleScene } from '#test/support/people-scene.ts'
import { BASE_URL } from '#test/support/test-app.ts'

const CLOSED = '/gh/acme/closed'
const FORM = 'application/x-www-form-urlencoded'

let scene: PeopleScene
let ada: Browser
let clientId: string
const lines: string[] = []
const secrets: string[] = [VERIFIER]
beforeAll(async () => {
  scene = await openPeopleScene({ logger: { level: 'trace', stream: { write: (line: string) => void lines.push(line) } } })
  ada = await scene.signIn(scene.ada)
  const registered = await post(
    '/oauth/register',
    JSON.stringify({ redirect_uris: [REDIRECT], client_name: 'An app' }),
    'application/json',
  )
  expect(registered.statusCode).toBe(201)
  clientId = registered.json().client_id
})
afterAll(() => scene.close())

function post(url: string, payload: string, type = FORM, headers: Record<string, string> = {}) {
  return scene.app.inject({ method: 'POST', url, payload, headers: { 'content-type': type, ...headers } })
}

function authorizeUrl(over: Parameters = {}): string {
  const query = new URLSearchParams()
  const parameters: Parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    resource: `${BASE_URL}/mcp${CLOSED}`,
    state: 'x y',
    ...over,
  }
  for (const [name, value] of Object.entries(parameters)) for (const one of [value].flat()) query.append(name, one)
  return `/oauth/authorize?${query}`
}

async function requested(over: Parameters = {}): Promise<string> {
  const { headers } = await scene.app.inject(authorizeUrl(over))
  const request = new URL(headers.location ?? '').searchParams.get('request') ?? ''
  secrets.push(request)
  return request
}

async function connect(over: Parameters = {}): Promise<{ access_token: string; refresh_token: string }> {
  const decided = await ada.post('/api/v1/oauth/decision', { request: await requested(over), approve: true })
  const code = new URL(decided.json.redirect).searchParams.get('code') ?? ''
  const fields = { grant_type: 'authorization_code', client_id: clientId, code, code_verifier: VERIFIER, redirect_uri: REDIRECT }
  const answer = await post('/oauth/token', new URLSearchParams(fields).toString())
  expect([answer.statusCode, answer.headers['cache-control']]).toEqual([200, 'no-store'])
  secrets.push(code, answer.json().access_token, answer.json().refresh_token)
  return answer.json()
}

/** The only link of a page. */
function linkOf(body: string): { href: string; text: string } {
  const [, href = '', text = ''] = /<a rel="noreferrer" href="([^"]*)">([^<]*)<\/a>/.exec(body) ?? []
  return { href: href.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code)), text }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('metadata', () => {
  test('names the endpoints of the configured origin, for every origin', async () => {
    const answer = await scene.app.inject({ url: '/.well-known/oauth-authorization-server', headers: { host: 'evil.example' } })
    expect(answer.json()).toMatchObject({ issuer: BASE_URL, token_endpoint: `${BASE_URL}/oauth/token` })
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' })
  })

  test.each(['/gh/acme/closed', '/gh/nobody/nothing', '/gh/acme/closed@feature%2Fx/sub/dir'])(
    '%s is a resource',
    async address => {
      const answer = await scene.app.inject(`/.well-known/oauth-protected-resource/mcp${address}`)
      expect(answer.json()).toMatchObject({ resource: `${BASE_URL}/mcp${address}`, authorization_servers: [BASE_URL] })
    },
  )

  test.each(['', '/gh/acme', '/local/acme/tools', '/gh/acme/closed//x'])('%j is no resource', async address => {
    expect((await scene.app.inject(`/.well-known/oauth-protected-resource/mcp${address}`)).statusCode).toBe(404)
  })

  test('a preflight is answered on routes that pages of other origins may call', async () => {
    for (const [url, method] of [
      ['/.well-known/oauth-authorization-server', 'GET'],
      ['/oauth/token', 'POST'],
      ['/oauth/register', 'POST'],
      ['/oauth/revoke', 'POST'],
    ] as const) {
      const { statusCode, headers } = await scene.app.inject({
        method: 'OPTIONS',
        url,
        headers: { origin: 'https://app.example' },
      })
      expect([url, statusCode, headers['access-control-allow-methods']]).toEqual([url, 204, method])
      expect(headers['access-control-allow-credentials']).toBeUndefined()
    }
  })
})

describe('an app that requests authorization', () => {
  test.each<[string, Parameters]>([
    ['an unknown client', { client_id: 'x' }],
    ['a redirect URI of another app', { redirect_uri: 'https://evil.example/cb' }],
    ['a redirect URI that occurs twice', { redirect_uri: [REDIRECT, REDIRECT] }],
    ['a document that cannot be read', { client_id: 'https://app.example/client.json' }],
  ])('with %s is redirected nowhere', async (_name, over) => {
    const { statusCode, headers, body } = await scene.app.inject(authorizeUrl(over))
    expect([statusCode, headers.location]).toEqual([400, undefined])
    expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(body).not.toContain('evil')
  })

  test.each<[string, string, Parameters]>([
    ['unsupported_response_type', 'another response type', { response_type: 'token' }],
    ['invalid_request', 'another response mode', { response_mode: 'fragment' }],
    ['invalid_request', 'no challenge', { code_challenge: '' }],
    ['invalid_request', 'the plain method', { code_challenge_method: 'plain' }],
    ['invalid_request', 'a parameter twice', { code_challenge: [CHALLENGE, CHALLENGE] }],
    ['invalid_target', 'no resource', { resource: '' }],
    ['invalid_target', 'two resources', { resource: [`${BASE_URL}/mcp${CLOSED}`, `${BASE_URL}/mcp${CLOSED}`] }],
    ['invalid_target', 'a foreign resource', { resource: `https://other.example/mcp${CLOSED}` }],
    ['invalid_target', 'a resource that is no repository', { resource: `${BASE_URL}/mcp` }],
    ['invalid_target', 'a resource without slashes', { resource: `${BASE_URL.replace('//', '')}/mcp${CLOSED}` }],
    ['invalid_target', 'a resource with one slash', { resource: `${BASE_URL.replace('//', '/')}/mcp${CLOSED}` }],
    ['invalid_target', 'a resource with three slashes', { resource: `${BASE_URL.replace('//', '///')}/mcp${CLOSED}` }],
    ['invalid_target', 'a resource that leads elsewhere', { resource: `${BASE_URL}/mcp/gh/acme/other/../closed` }],
    ['invalid_target', 'a resource that leads elsewhere escaped', { resource: `${BASE_URL}/x/%2e%2e/mcp${CLOSED}` }],
    ['invalid_scope', 'an unknown scope', { scope: 'write' }],
  ])('v5.0.0-10.4.6: gets %s for %s, once the person follows the link of a page', async (error, _name, over) => {
    const { statusCode, headers, body } = await scene.app.inject(authorizeUrl(over))
    expect([statusCode, headers.location]).toEqual([400, undefined])
    const { href, text } = linkOf(body)
    const back = new URL(href)
    expect(back.origin + back.pathname).toEqual(REDIRECT)
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, state: 'x y', iss: BASE_URL })
    expect(text).toBe(`Go back to the app on this computer (${back.hostname})`)
  })

  test.each([
    ['https://app.example/cb?x=1', 'Go back to app.example'],
    ['com.example.app:/cb', 'Open the application of links that begin with com.example.app:'],
  ])('sends no browser to %s by itself, and names the place', async (redirectUri, words) => {
    const registered = await post('/oauth/register', JSON.stringify({ redirect_uris: [redirectUri] }), 'application/json')
    const over = { client_id: registered.json().client_id, redirect_uri: redirectUri, resource: '', state: '"><script>' }
    const { statusCode, headers, body } = await scene.app.inject(authorizeUrl(over))
    expect([statusCode, headers.location, linkOf(body).text]).toEqual([400, undefined, words])
    expect(linkOf(body).href.startsWith(redirectUri)).toBe(true)
    expect(body).not.toContain('<script')
  })

  test.each([
    ['de-AT,de;q=0.9,en;q=0.8', 'de', 'Die App kann nicht verbunden werden', 'Zurück zur App auf diesem Rechner (127.0.0.1)'],
    ['fr,en;q=0.5', 'en', 'The app cannot be connected', 'Go back to the app on this computer (127.0.0.1)'],
    ['', 'en', 'The app cannot be connected', 'Go back to the app on this computer (127.0.0.1)'],
  ])('is refused on a page in the language of the browser: %s', async (accepted, language, title, words) => {
    for (const over of [{ resource: '' }, { client_id: 'unknown' }, { redirect_uri: 'https://other.example/' }]) {
      const answer = await scene.app.inject({ url: authorizeUrl(over), headers: { 'accept-language': accepted } })
      const { statusCode, headers, body } = answer
      expect([statusCode, headers['content-language'], headers.vary]).toEqual([400, language, 'accept-language'])
      expect(body).toMatch(new RegExp(`<html lang="${language}">.*<title>${title}</title>`))
      if ('resource' in over) expect(linkOf(body).text).toBe(words)
    }
  })
})

describe('a person on the consent page', () => {
  test('sees which app asks, its redirect URI and the scope', async () => {
    const answer = await ada.get(`/api/v1/oauth/request?request=${await requested()}`)
    expect(answer.json).toEqual({
      client: { name: 'An app', uri: null, redirectHost: '127.0.0.1', redirectKind: 'loopback', loopback: true },
      address: CLOSED,
      scope: 'read',
      user: { host: 'gh', login: 'ada', name: 'Ada', avatar: expect.any(String) },
      visible: true,
      installUrl: expect.stringContaining('/apps/'),
    })
    const nobody = await scene.browser().get(`/api/v1/oauth/request?request=${await requested()}`)
    expect(nobody.json).toMatchObject({ user: null, visible: null })
  })

  test('v5.0.0-10.7.1: a repository that the person cannot see looks like one that does not exist', async () => {
    const bob = await scene.signIn(scene.bob)
    for (const address of [CLOSED, '/gh/acme/nothing']) {
      const request = await requested({ resource: `${BASE_URL}/mcp${address}` })
      expect((await bob.get(`/api/v1/oauth/request?request=${request}`)).json).toMatchObject({ visible: false })
      const decided = await bob.post('/api/v1/oauth/decision', { request, approve: true })
      expect([decided.status, decided.json.error.code]).toEqual([403, 'oauth.not_visible'])
    }
  })

  test('checks have a fixed order, and a refusal by the person is always accepted', async () => {
    const request = await requested()
    const body = { request, approve: true }
    const foreign = await ada.post('/api/v1/oauth/decision', 'x', {
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
    })
    expect([foreign.status, foreign.json.error.code]).toEqual([403, 'auth.forbidden_origin'])
    const nobody = await scene.browser().post('/api/v1/oauth/decision', 'x')
    expect([nobody.status, nobody.json.error.code]).toEqual([401, 'auth.required'])
    for (const malformed of ['x', { request }, { ...body, request: 'x' }, { ...body, more: 1 }]) {
      const answer = await ada.post('/api/v1/oauth/decision', malformed)
      expect([answer.status, answer.json.error.code]).toEqual([400, 'oauth.invalid_request'])
    }
    const bob = await scene.signIn(scene.bob)
    const refused = await bob.post('/api/v1/oauth/decision', { request, approve: false })
    const back = new URL(refused.json.redirect)
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'access_denied', state: 'x y', iss: BASE_URL })
  })
})

describe('tokens', () => {
  test('v5.0.0-10.3.1: read the repository until the person ends the grant', async () => {
    const { access_token, refresh_token } = await connect()
    await scene.app.inject({ url: `/api/v1/mounts${CLOSED}`, headers: bearer(access_token) })
    const seen = await scene.app.inject({ url: `/api/v1/mounts${CLOSED}`, headers: bearer(access_token) })
    expect(seen.statusCode).toBe(200)
    const other = await scene.app.inject({ url: '/api/v1/mounts/gh/acme/tools', headers: bearer(access_token) })
    expect([other.statusCode, other.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"'])

    const [item] = (await ada.get('/api/v1/me/grants')).json.items
    expect(item).toMatchObject({ client: { name: 'An app', uri: null }, address: CLOSED })
    const replica = await scene.replica()
    expect((await ada.at(replica).delete(`/api/v1/me/grants/${item.id}`)).status).toBe(204)
    expect((await ada.delete(`/api/v1/me/grants/${item.id}`)).json.error.code).toBe('grant.not_found')
    const ended = await scene.app.inject({ url: `/api/v1/mounts${CLOSED}`, headers: bearer(access_token) })
    expect(ended.statusCode).toBe(401)
    const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token }
    const refreshed = await post('/oauth/token', new URLSearchParams(fields).toString())
    expect([refreshed.statusCode, refreshed.json().error]).toEqual([400, 'invalid_grant'])
  })

  test('a malformed token request is answered with an OAuth error', async () => {
    const cases: [string, string, string][] = [
      ['', FORM, 'invalid_request'],
      ['grant_type=password', FORM, 'unsupported_grant_type'],
      ['grant_type=refresh_token&grant_type=refresh_token', FORM, 'invalid_request'],
      ['grant_type=refresh_token&client_id=x&refresh_token=y', FORM, 'invalid_client'],
      ['{"grant_type":"refresh_token"}', 'application/json', 'invalid_request'],
      ['grant_type=%zz', FORM, 'invalid_request'],
    ]
    for (const [body, type, error] of cases) {
      const answer = await post('/oauth/token', body, type)
      expect([body, answer.statusCode, answer.json().error]).toEqual([body, 400, error])
      expect(answer.headers['access-control-allow-origin']).toBe('*')
    }
  })

  test('a revocation is 200 for any token, and ends the presented one', async () => {
    const { access_token, refresh_token } = await connect()
    for (const token of ['x', access_token.slice(0, -1), refresh_token])
      expect((await post('/oauth/revoke', new URLSearchParams({ token }).toString())).statusCode).toBe(200)
    const ended = await scene.app.inject({ url: `/api/v1/mounts${CLOSED}`, headers: bearer(access_token) })
    expect(ended.statusCode).toBe(401)
  })

  test('a client cannot revoke the token of another one, and a finder without a client can', async () => {
    const { access_token, refresh_token } = await connect()
    const registered = await post('/oauth/register', JSON.stringify({ redirect_uris: [REDIRECT] }), 'application/json')
    const revoke = (fields: Record<string, string>) => post('/oauth/revoke', new URLSearchParams(fields).toString())
    for (const token of [access_token, refresh_token]) {
      const answer = await revoke({ token, client_id: registered.json().client_id })
      expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_grant'])
    }
    const read = () => scene.app.inject({ url: `/api/v1/mounts${CLOSED}`, headers: bearer(access_token) })
    expect((await read()).statusCode).toBe(200)
    expect((await revoke({ token: access_token, client_id: clientId })).statusCode).toBe(200)
    expect((await read()).statusCode).toBe(401)
  })

  test('a refused registration names the reason', async () => {
    for (const [metadata, error] of [
      [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [REDIRECT], grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ] as const) {
      const answer = await post('/oauth/register', JSON.stringify(metadata), 'application/json')
      expect([answer.statusCode, answer.json().error]).toEqual([400, error])
    }
  })

  test('v5.0.0-16.2.5: no issued code or token is in the log', async () => {
    await connect()
    const log = lines.join('')
    expect(log).toContain('grant.create')
    secrets.push(...ada.cookies.values())
    expect(secrets.length).toBeGreaterThan(10)
    for (const secret of secrets) expect(log).not.toContain(secret)
  })
})
