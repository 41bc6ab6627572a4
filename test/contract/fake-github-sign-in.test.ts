import { createHash } from 'node:crypto'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { openGitHubScene } from './fake-github-scene.ts'

const scene = await openGitHubScene()
const { github, repository, acme, ada, bob, secret, app, installation, tokens, ask, askJson, statusOf } = scene

afterEach(scene.check)
afterAll(scene.close)

describe('credentials', () => {
  test('an invalid token is 401 for every request', async () => {
    for (const token of ['ghp_nothing', 'ghs_1_a.b.c', 'a.b.c'])
      expect(await askJson('/repos/acme/tools', { token })).toMatchObject({ status: '401' })
    expect(await askJson('/repos/acme/tools', { token: 'x' })).toMatchObject({ message: 'Bad credentials' })
  })

  test('a token is accepted as token, Bearer or Basic, and a client by its id and secret', async () => {
    const authorized = async (authorization: string) => statusOf('/repos/acme/closed', { headers: { authorization } })
    expect(await authorized(`token ${tokens.ada}`)).toBe(200)
    expect(await authorized(`Basic ${Buffer.from(`x-access-token:${tokens.ada}`).toString('base64')}`)).toBe(200)
    expect(await authorized(`Basic ${Buffer.from(`${tokens.ada}:x-oauth-basic`).toString('base64')}`)).toBe(200)
    expect(await authorized(`Basic ${tokens.client}`)).toBe(404)
    expect(await authorized(`Basic ${Buffer.from('Ov23:wrong').toString('base64')}`)).toBe(401)
  })

  test('a client without a name is sent away before anything else', async () => {
    const answer = await ask('/repos/acme/tools', { headers: { 'user-agent': '' } })
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('User-Agent')])
  })

  test('an unknown version of the API is 400', async () => {
    expect(await askJson('/users/ada', { headers: { 'x-github-api-version': '2001-01-01' } })).toMatchObject({ status: '400' })
    expect(await statusOf('/users/ada', { headers: { 'x-github-api-version': '2022-11-28' } })).toBe(200)
  })

  test('an app authenticates by a fresh JWT of its own key', async () => {
    const path = '/repos/acme/closed/installation'
    expect(await askJson(path, { token: tokens.jwt })).toMatchObject({ id: installation.id, app_slug: 'reader' })
    expect(await askJson('/repos/acme/tools/installation', { token: tokens.jwt })).toMatchObject({ status: '404' })
    expect(await askJson(path, { token: tokens.ada })).toMatchObject({ status: '401' })
    expect(await askJson(path, { token: `${tokens.jwt.slice(0, -8)}AAAAAAAA` })).toMatchObject({ status: '401' })
    github.clock.advance(600)
    expect(await askJson(path, { token: tokens.jwt })).toMatchObject({ status: '401', message: expect.stringContaining('exp') })
  })

  test('an installation token is long, has two dots, is scoped down and ends within the hour', async () => {
    const path = `/app/installations/${installation.id}/access_tokens`
    const make = async (body: unknown) => askJson(path, { token: tokens.jwt, method: 'POST', body })
    const made = await make({ repository_ids: [secret.id], permissions: { contents: 'read' } })
    expect(made).toMatchObject({
      status: 201,
      permissions: { contents: 'read', metadata: 'read' },
      repository_selection: 'selected',
      repositories: [{ full_name: 'acme/closed' }],
    })
    expect([made.token.startsWith(`ghs_${app.id}_`), made.token.split('.').length]).toEqual([true, 3])
    expect(made.token.length).toBeGreaterThan(500)
    expect(await statusOf('/repos/acme/closed', { token: made.token })).toBe(200)
    expect(await make({ repository_ids: [repository.id] })).toMatchObject({ status: '422' })
    expect(await make({ permissions: { contents: 'write' } })).toMatchObject({ status: '422' })
    github.clock.advance(3601)
    expect(await statusOf('/repos/acme/closed', { token: made.token })).toBe(401)
  })

  test('a token without the permission to read contents is refused with 403', async () => {
    const bare = github.install(github.app('bare', { permissions: { metadata: 'read' } }), acme)
    const token = github.installationToken(bare)
    expect(await statusOf('/repos/acme/closed', { token })).toBe(200)
    expect(await askJson('/repos/acme/closed/commits/main', { token })).toMatchObject({
      message: 'Resource not accessible by integration',
    })
    expect(await statusOf('/repos/acme/tools/commits/main', { token })).toBe(200)
  })

  test('the installations of a person, and what both reach', async () => {
    const list = await askJson('/user/installations?per_page=100', { token: tokens.adaByApp })
    expect(list).toMatchObject({ total_count: 1, installations: [{ id: installation.id, repository_selection: 'selected' }] })
    expect(list.installations[0].html_url).toBe(
      `${github.origins.web}/organizations/acme/settings/installations/${installation.id}`,
    )
    const reached = await askJson(`/user/installations/${installation.id}/repositories`, { token: tokens.adaByApp })
    expect(reached).toMatchObject({ total_count: 1, repositories: [{ full_name: 'acme/closed', permissions: { pull: true } }] })
    expect(await askJson('/user/installations', { token: tokens.ada })).toMatchObject({ status: '403' })
    const bobs = github.userTokens(app, bob).access_token
    expect(await askJson('/user/installations', { token: bobs })).toMatchObject({ total_count: 0 })
    expect(await askJson(`/user/installations/${installation.id}/repositories`, { token: bobs })).toMatchObject({ status: '404' })
  })
})

describe('sign-in', () => {
  const VERIFIER = 'v'.repeat(43)
  const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

  async function authorize(params: Record<string, string> = {}): Promise<URL> {
    const query = new URLSearchParams({
      client_id: app.clientId,
      state: 's',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...params,
    })
    const answer = await ask(`${github.origins.web}/login/oauth/authorize?${query}`)
    expect(answer.status).toBe(302)
    return new URL(answer.headers.get('location') ?? '')
  }

  // biome-ignore lint/suspicious/noExplicitAny: the token endpoint answers one of several shapes
  async function exchange(params: Record<string, string>): Promise<any> {
    const answer = await fetch(`${github.origins.web}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({ client_id: app.clientId, client_secret: app.clientSecret, ...params }),
    })
    expect(answer.status).toBe(200)
    return answer.json()
  }

  async function signIn(): Promise<string> {
    github.world.browser = { user: ada, approves: true }
    const back = await authorize()
    return back.searchParams.get('code') ?? ''
  }

  test('a code returns with the state, and is exchanged once for a token and a refresh token, with the verifier', async () => {
    github.world.browser = { user: ada, approves: true }
    const back = await authorize({ redirect_uri: 'https://reader.example/callback' })
    expect(`${back.origin}${back.pathname}?${back.searchParams.get('state')}`).toBe('https://reader.example/callback?s')
    const code = back.searchParams.get('code') ?? ''
    expect(await exchange({ code })).toMatchObject({ error: 'bad_verification_code' })
    expect(await exchange({ code, code_verifier: 'w'.repeat(43) })).toMatchObject({ error: 'bad_verification_code' })
    const given = await exchange({ code, code_verifier: VERIFIER })
    expect(given).toMatchObject({
      access_token: expect.stringMatching(/^ghu_\w{36}$/),
      expires_in: 28_800,
      refresh_token: expect.stringMatching(/^ghr_\w{76}$/),
      refresh_token_expires_in: 15_897_600,
      scope: '',
      token_type: 'bearer',
    })
    expect(await askJson('/user', { token: given.access_token })).toMatchObject({ login: 'ada' })
    expect(await exchange({ code, code_verifier: VERIFIER })).toMatchObject({ error: 'bad_verification_code' })
  })

  test('a refresh token works once and ends the pair before it; tokens expire', async () => {
    const old = await exchange({ code: await signIn(), code_verifier: VERIFIER })
    const fresh = await exchange({ grant_type: 'refresh_token', refresh_token: old.refresh_token })
    expect(await statusOf('/user', { token: old.access_token })).toBe(401)
    expect(await statusOf('/user', { token: fresh.access_token })).toBe(200)
    const again = { grant_type: 'refresh_token', refresh_token: old.refresh_token }
    expect(await exchange(again)).toMatchObject({ error: 'bad_refresh_token' })
    github.clock.advance(28_801)
    expect(await statusOf('/user', { token: fresh.access_token })).toBe(401)
    const late = await exchange({ grant_type: 'refresh_token', refresh_token: fresh.refresh_token })
    github.clock.advance(15_897_601)
    expect(await exchange({ grant_type: 'refresh_token', refresh_token: late.refresh_token })).toMatchObject({
      error: 'bad_refresh_token',
    })
  })

  test('every refusal is a 200 with its name, or a redirect to the app', async () => {
    const code = await signIn()
    expect(await exchange({ code, code_verifier: VERIFIER, client_secret: 'x' })).toMatchObject({
      error: 'incorrect_client_credentials',
    })
    const elsewhere = { code, code_verifier: VERIFIER, redirect_uri: 'https://evil.example/' }
    expect(await exchange(elsewhere)).toMatchObject({ error: 'redirect_uri_mismatch' })
    const mismatch = await authorize({ redirect_uri: 'https://evil.example/' })
    expect([mismatch.origin, mismatch.searchParams.get('error')]).toEqual(['https://reader.example', 'redirect_uri_mismatch'])
    github.world.browser = { user: ada, approves: false }
    const denied = await authorize()
    expect([denied.searchParams.get('error'), denied.searchParams.get('state')]).toEqual(['access_denied', 's'])
    github.clock.advance(601)
    expect(await exchange({ code, code_verifier: VERIFIER })).toMatchObject({ error: 'bad_verification_code' })
    expect((await authorize({ code_challenge_method: 'plain' })).searchParams.get('error')).toBe('invalid_request')
  })

  test('without asking for JSON the answer is a form', async () => {
    const answer = await fetch(`${github.origins.web}/login/oauth/access_token`, {
      method: 'POST',
      body: new URLSearchParams({ code: 'x' }),
    })
    expect(new URLSearchParams(await answer.text()).get('error')).toBe('incorrect_client_credentials')
  })

  test('the app revokes a token, and all tokens of a person', async () => {
    const authorization = `Basic ${Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')}`
    const revoke = (token: string, what = 'token') =>
      statusOf(`/applications/${app.clientId}/${what}`, {
        method: 'DELETE',
        headers: { authorization },
        body: { access_token: token },
      })
    const [one, two, three] = [1, 2, 3].map(() => github.userTokens(app, bob))
    expect(await revoke(one?.access_token ?? '')).toBe(204)
    expect(await revoke(one?.access_token ?? '')).toBe(404)
    expect(await statusOf('/user', { token: two?.access_token ?? '' })).toBe(200)
    expect(await revoke(two?.access_token ?? '', 'grant')).toBe(204)
    expect(await statusOf('/user', { token: three?.access_token ?? '' })).toBe(401)
    expect(await exchange({ grant_type: 'refresh_token', refresh_token: three?.refresh_token ?? '' })).toMatchObject({
      error: 'bad_refresh_token',
    })
    expect(
      (await ask(`/applications/${app.clientId}/token`, { method: 'DELETE', headers: { authorization }, body: {} })).status,
    ).toBe(422)
  })

  test('installing leads back to the app', async () => {
    const page = `${github.origins.web}/apps/reader/installations/new`
    expect(await (await ask(page)).text()).toContain('bob')
    const { headers } = await ask(`${page}?account=bob`)
    expect(headers.get('location')).toMatch(/^https:\/\/reader\.example\/\?installation_id=\d+&setup_action=install$/)
    const made = [...github.world.installations].find(({ account }) => account === bob)
    if (made) github.world.installations.delete(made)
  })
})
