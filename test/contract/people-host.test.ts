import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PeopleHost, PersonAccess } from '#core/ports/people-host.ts'
import type { GitHubHost } from '#infra/github/host.ts'
import type { Account } from '#test/support/fake-github/world.ts'
import { IMPATIENT_MS, PATIENT } from '#test/support/patient.ts'
import { openGitHubScene } from './fake-github-scene.ts'
import { openGitHubHostAt } from './git-host-drivers.ts'

const scene = await openGitHubScene()
const { github, acme, ada, bob, secret, app, installation } = scene
const CALLBACK = 'https://reader.example/callback'
const VERIFIER = 'v'.repeat(43)
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

let host: GitHubHost
let people: PeopleHost
let warnings: string[]

beforeEach(async () => {
  // Only `advance` moves it: how long a test takes decides nothing.
  github.clock.stopAt(Date.now())
  warnings = []
  host = await open()
})

afterEach(async () => {
  await host.close()
  scene.check()
})
afterAll(scene.close)

async function open(settings: { clientSecret?: string } = {}, timeouts = PATIENT): Promise<GitHubHost> {
  const opened = await openGitHubHostAt(github, {
    app: { ...app, id: String(app.id), ...settings },
    timeouts,
    onWarning: text => warnings.push(text),
  })
  if (opened.people === null) throw new Error('no people')
  people = opened.people
  return opened
}

/** A host that waits for no answer that does not come. */
async function reopenImpatient(): Promise<void> {
  await host.close()
  host = await open({}, { ...PATIENT, answerMs: IMPATIENT_MS, retryWithinMs: 0 })
}

/** As the sign-in gives it, for a person of the host. */
function accessOf(user: Account): PersonAccess {
  return { key: user.login, accessToken: github.userTokens(app, user).access_token }
}

/** Follows the sign-in page as a browser does. */
async function codeOf(user: Account, challenge = CHALLENGE): Promise<string> {
  github.world.browser = { user, approves: true }
  const answer = await fetch(people.signInUrl({ state: 'a state', challenge, redirectUri: CALLBACK }), { redirect: 'manual' })
  const back = new URL(answer.headers.get('location') ?? '')
  expect([`${back.origin}${back.pathname}`, back.searchParams.get('state')]).toEqual([CALLBACK, 'a state'])
  return back.searchParams.get('code') ?? ''
}

const proofOf = (code: string, verifier = VERIFIER) => ({ code, verifier, redirectUri: CALLBACK })
const asked = () => github.log.rest.map(({ path, status }) => `${path} ${status}`)
const failExchange = (answer: object) => github.faults.add({ match: { path: '/login/oauth/access_token' }, times: 2, ...answer })

describe('the web flow', () => {
  test('a code becomes a credential once, for the verifier of its challenge', async () => {
    const code = await codeOf(ada)
    expect(await people.exchange(proofOf(code, 'w'.repeat(43)))).toEqual({ status: 'refused' })
    const given = await people.exchange(proofOf(code))
    if (given.status !== 'ok') throw new Error(given.status)
    const { accessToken, expiresAt, refreshToken, refreshExpiresAt } = given.value
    expect([accessToken, refreshToken]).toEqual([expect.stringMatching(/^ghu_/), expect.stringMatching(/^ghr_/)])
    const hours = [expiresAt, refreshExpiresAt].map(at => Math.round((Date.parse(at ?? '') - github.clock.now()) / 3_600_000))
    expect(hours).toEqual([8, 184 * 24])
    expect(await people.exchange(proofOf(code))).toEqual({ status: 'refused' })
  })

  test('a refresh token works once and ends the pair before it', async () => {
    const given = await people.exchange(proofOf(await codeOf(ada)))
    if (given.status !== 'ok') throw new Error(given.status)
    const { accessToken, refreshToken } = given.value
    const fresh = await people.refresh(refreshToken ?? '')
    expect(fresh).toMatchObject({ status: 'ok', value: { accessToken: expect.not.stringContaining(accessToken) } })
    expect(await people.refresh(refreshToken ?? '')).toEqual({ status: 'refused' })
    expect(await people.person({ key: 'ada', accessToken })).toEqual({ status: 'signed_out' })
  })

  test('an App without expiring tokens gives a credential without instants', async () => {
    app.expiringTokens = false
    const given = await people.exchange(proofOf(await codeOf(ada)))
    app.expiringTokens = true
    expect(given).toMatchObject({ value: { expiresAt: null, refreshToken: null, refreshExpiresAt: null } })
  })

  test('a wrong client secret is an error of the operator, who is warned without the secret', async () => {
    await host.close()
    host = await open({ clientSecret: 'wrong-secret' })
    expect(await people.exchange(proofOf(await codeOf(ada)))).toMatchObject({ status: 'unavailable' })
    expect(warnings).toEqual([expect.stringContaining('incorrect_client_credentials')])
    expect(warnings.join()).not.toContain('wrong-secret')
  })

  test('a host that fails, limits, sends nonsense or nothing never counts as a refusal', async () => {
    for (const [answer, expected] of [
      [{ status: 500 }, { status: 'unavailable' }],
      [{ status: 200, body: '<html>' }, { status: 'unavailable' }],
      [{ status: 200, body: '{"access_token":7}' }, { status: 'unavailable' }],
      [
        { status: 429, headers: { 'retry-after': '7' } },
        { status: 'rate_limited', retryAfterSeconds: 7 },
      ],
      [{ reset: true }, { status: 'unavailable' }],
    ] as const) {
      failExchange(answer)
      expect(await people.refresh('ghr_x')).toMatchObject(expected)
      github.faults.clear()
    }
  })

  test('a host that does not answer in time does not count as a refusal, and no person is signed out', async () => {
    await reopenImpatient()
    failExchange({ stall: true })
    expect(await people.refresh('ghr_x')).toMatchObject({ status: 'unavailable' })
    github.faults.clear()
    github.faults.add({ match: { path: '/repos/acme/closed' }, times: 2, stall: true })
    expect(await people.repository(accessOf(ada), 'acme', 'closed')).toMatchObject({ status: 'unavailable' })
    github.faults.clear()
  })

  test('the page on which the App is installed is known by its slug', async () => {
    expect(people.installUrl).toBe(`${github.origins.web}/apps/reader/installations/new`)
    const nameless = await openGitHubHostAt(github, { app: { ...app, id: String(app.id), slug: null } })
    expect(nameless.people?.installUrl).toBeNull()
    await nameless.close()
  })
})

describe('the repositories of a person', () => {
  test('belong to an account whose id survives a change of the login', async () => {
    const access = accessOf(ada)
    expect(await people.person(access)).toMatchObject({ status: 'ok', value: { id: `gh-${ada.id}`, login: 'ada', name: 'Ada' } })
    ada.login = 'ada-l'
    expect(await people.person(access)).toMatchObject({ value: { id: `gh-${ada.id}`, login: 'ada-l' } })
    ada.login = 'ada'
  })

  test('include a private one as private, which a stranger does not find', async () => {
    expect(await people.repository(accessOf(ada), 'ACME', 'closed')).toMatchObject({
      status: 'ok',
      value: { id: `gh-${secret.id}`, owner: 'acme', name: 'closed', visibility: 'private' },
    })
    expect(await people.repository(accessOf(ada), 'acme', 'Tools')).toMatchObject({ value: { visibility: 'public' } })
    github.log.clear()
    expect(await people.repository(accessOf(bob), 'acme', 'closed')).toEqual({ status: 'missing' })
    expect(await people.repository(accessOf(bob), 'acme', 'nothing')).toEqual({ status: 'missing' })
    expect(asked()).toEqual(['/repos/acme/closed 404', '/repos/acme/nothing 404'])
  })

  test('are cached for half a minute, missing ones for ten seconds, and then asked for conditionally', async () => {
    const [adas, bobs] = [accessOf(ada), accessOf(bob)]
    const look = async () => {
      github.log.clear()
      await people.repository(adas, 'acme', 'closed')
      await people.repository(bobs, 'acme', 'closed')
      return github.log.rest.map(({ status }) => status)
    }
    expect(await look()).toEqual([200, 404])
    github.clock.advance(9)
    expect(await look()).toEqual([])
    github.clock.advance(2)
    expect(await look()).toEqual([404])
    github.clock.advance(20)
    expect(await look()).toEqual([304, 404])
  })

  test('under one credential are never those of another credential of the same person', async () => {
    const [full, other] = [accessOf(ada), { ...accessOf(bob), key: 'ada' }]
    expect(await people.repository(full, 'acme', 'closed')).toMatchObject({ status: 'ok' })
    expect(await people.repository(other, 'acme', 'closed')).toEqual({ status: 'missing' })
  })

  test('exclude one hidden by a single sign-on, a suspended installation or a block of the host', async () => {
    const access = accessOf(ada)
    const missing = { status: 'missing' }
    acme.saml = { authorized: new Set() }
    expect(await people.repository(access, 'acme', 'closed')).toEqual(missing)
    acme.saml = null
    github.clock.advance(11)
    installation.suspendedAt = '2026-01-01T00:00:00Z'
    expect(await people.repository(access, 'acme', 'closed')).toEqual(missing)
    installation.suspendedAt = null
    github.clock.advance(11)
    secret.disabled = true
    expect(await people.repository(access, 'acme', 'closed')).toEqual(missing)
    secret.disabled = false
    github.clock.advance(11)
    secret.blocked = { reason: 'dmca', createdAt: '2026-01-01T00:00:00Z' }
    expect(await people.repository(access, 'acme', 'closed')).toEqual(missing)
    secret.blocked = null
  })

  test('include a renamed one under its former name, once, with the present name', async () => {
    github.world.rename(secret, { name: 'sealed' })
    expect(await people.repository(accessOf(ada), 'acme', 'closed')).toMatchObject({
      value: { name: 'sealed', id: `gh-${secret.id}` },
    })
    github.world.rename(secret, { name: 'closed' })
  })

  test('are unavailable under limits, failures and silence of the host, and not answered from the cache', async () => {
    const access = accessOf(ada)
    expect(await people.repository(access, 'acme', 'closed')).toMatchObject({ status: 'ok' })
    for (const [fault, expected] of [
      [{ status: 500 }, { status: 'unavailable' }],
      [
        { status: 403, headers: { 'x-ratelimit-remaining': '0' }, body: '{"message":"API rate limit exceeded"}' },
        { status: 'rate_limited' },
      ],
    ] as const) {
      github.clock.advance(31)
      github.faults.add({ match: { path: '/repos/acme/closed' }, times: 2, ...fault })
      expect(await people.repository(access, 'acme', 'closed')).toMatchObject(expected)
      github.faults.clear()
    }
  })

  test('are dropped with the sign-in when the host rejects the credential', async () => {
    const access = accessOf(ada)
    expect(await people.repository(access, 'acme', 'closed')).toMatchObject({ status: 'ok' })
    github.world.tokens.delete(access.accessToken)
    expect(await people.installations(access)).toEqual({ status: 'signed_out' })
    expect(await people.repository(access, 'acme', 'closed')).toEqual({ status: 'signed_out' })
  })

  test('are asked for again at once after a change', async () => {
    const access = accessOf(ada)
    const id = `gh-${secret.id}`
    for (const change of [
      { repositories: [{ id, fullName: 'acme/other' }], accounts: [], refs: [] },
      { repositories: [{ id: 'gh-1', fullName: 'acme/closed' }], accounts: [], refs: [] },
      { repositories: [], accounts: ['Acme'], refs: [] },
      { repositories: [], accounts: [], refs: [], people: true as const },
    ]) {
      await people.repository(access, 'acme', 'closed')
      github.log.clear()
      await people.repository(access, 'acme', 'closed')
      expect(asked()).toEqual([])
      host.applyChange(change)
      await people.repository(access, 'acme', 'closed')
      expect(asked()).toEqual(['/repos/acme/closed 200'])
    }
  })

  test('that became public are public for everyone as soon as one person sees them so', async () => {
    expect(await host.repository('acme', 'closed')).toEqual({ status: 'missing' })
    secret.visibility = 'public'
    expect(await people.repository(accessOf(ada), 'acme', 'closed')).toMatchObject({ value: { visibility: 'public' } })
    expect(await host.repository('acme', 'closed')).toMatchObject({ status: 'ok' })
    secret.visibility = 'private'
  })
})

describe('installations', () => {
  test('list what the person and the App both reach; suspended ones are left out', async () => {
    const access = accessOf(ada)
    expect(await people.installations(access)).toMatchObject({
      status: 'ok',
      value: {
        truncated: false,
        items: [
          {
            account: { login: 'acme', kind: 'organization' },
            manageUrl: `${github.origins.web}/organizations/acme/settings/installations/${installation.id}`,
            selection: 'selected',
            repositories: [{ name: 'closed', visibility: 'private' }],
            truncated: false,
          },
        ],
      },
    })
    expect(await people.installations(accessOf(bob))).toEqual({ status: 'ok', value: { items: [], truncated: false } })
    installation.suspendedAt = '2026-01-01T00:00:00Z'
    expect(await people.installations(access)).toEqual({ status: 'ok', value: { items: [], truncated: false } })
    installation.suspendedAt = null
  })
})

describe('the end', () => {
  test('of a credential, and of everything that the person granted', async () => {
    const [one, two] = [accessOf(ada), accessOf(ada)]
    await people.revoke(one)
    expect(await people.person(one)).toEqual({ status: 'signed_out' })
    expect(await people.person(two)).toMatchObject({ status: 'ok' })
    await people.forget(two)
    expect(await people.person(two)).toEqual({ status: 'signed_out' })
    // A second time, and of a host that is away.
    await people.revoke(two)
    github.faults.add({ match: { path: `/applications/${app.clientId}/grant` }, reset: true })
    await people.forget(two)
  })
})
