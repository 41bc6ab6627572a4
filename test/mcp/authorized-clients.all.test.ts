import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, startService } from '#test/support/service.ts'
import { openSignInScene, type SignInScene } from '#test/support/signed-in.ts'
import { until } from '#test/support/until.ts'
import { ensureBuilt } from '../site/support/built-site.ts'
import { FOREIGN_CLIENTS, Keeper, METADATA, providerOf, REDIRECT, readSkill } from './foreign-apps.ts'
import { openPerson, type Person } from './person.ts'

/*
 * Programs that nobody here wrote connect to a running service, register, are approved by a person at a browser and read a private
 * repository. All of them are as they are published.
 */

let scene: SignInScene
let service: Service
let person: Person
beforeAll(async () => {
  await ensureBuilt()
  scene = await openSignInScene()
  service = await startService({ ...scene.settings, MOUNTGLASS_LOG: 'info' })
  let cookie = ''
  person = await openPerson(service.baseUrl, async () => {
    cookie = await scene.signIn(service.baseUrl)
    return cookie
  })
  await until(async () => (await (await ask({ cookie })).text()).includes('"status":"ready"'))
})
afterAll(async () => {
  await person?.close()
  await service?.stop()
  await scene?.close()
})

const decide = (location: URL, approve?: boolean) => person.decide(location, approve)
const resourceOf = (suffix = '') => `${service.baseUrl}/mcp${scene.address}${suffix}`

const ask = (headers: Record<string, string>) => fetch(`${service.baseUrl}/api/v1/mounts${scene.address}`, { headers })
const statusOf = async (token: string) => (await ask({ authorization: `Bearer ${token}` })).status

describe('oauth4webapi', () => {
  const http = { [oauth.allowInsecureRequests]: true }

  test('finds the server by the resource, registers, is approved, refreshes and revokes', async () => {
    const resource = new URL(resourceOf())
    const described = await oauth.processResourceDiscoveryResponse(resource, await oauth.resourceDiscoveryRequest(resource, http))
    const issuer = new URL(described.authorization_servers?.[0] ?? '')
    const found = await oauth.discoveryRequest(issuer, { ...http, algorithm: 'oauth2' })
    const server = await oauth.processDiscoveryResponse(issuer, found)
    const client = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(server, METADATA, http),
    )
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()]
    const location = new URL(server.authorization_endpoint ?? '')
    location.search = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      resource: resource.href,
    }).toString()
    // It checks `iss` too, since the metadata says that it is there.
    const parameters = oauth.validateAuthResponse(server, client, await decide(location), state)
    const asNobody = oauth.None()
    const given = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(server, client, asNobody, parameters, REDIRECT, verifier, {
        ...http,
        additionalParameters: { resource: resource.href },
      }),
    )
    expect(await statusOf(given.access_token)).toBe(200)
    const answer = await oauth.refreshTokenGrantRequest(server, client, asNobody, given.refresh_token ?? '', http)
    const refreshed = await oauth.processRefreshTokenResponse(server, client, answer)
    expect(refreshed.refresh_token).not.toBe(given.refresh_token)
    expect(await statusOf(refreshed.access_token)).toBe(200)
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, asNobody, refreshed.refresh_token ?? '', http),
    )
    expect(await statusOf(refreshed.access_token)).toBe(401)
  })
})

describe('openid-client', () => {
  async function asked() {
    const options = { execute: [openid.allowInsecureRequests], algorithm: 'oauth2' as const }
    const config = await openid.dynamicClientRegistration(new URL(service.baseUrl), METADATA, openid.None(), options)
    const [pkceCodeVerifier, expectedState] = [openid.randomPKCECodeVerifier(), openid.randomState()]
    const location = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      resource: resourceOf(),
    })
    return { config, location, checks: { pkceCodeVerifier, expectedState } }
  }

  test('registers, is approved and refreshes', async () => {
    const { config, location, checks } = await asked()
    const given = await openid.authorizationCodeGrant(config, await decide(location), checks, { resource: resourceOf() })
    expect(await statusOf(given.access_token)).toBe(200)
    const refreshed = await openid.refreshTokenGrant(config, given.refresh_token ?? '')
    expect(await statusOf(refreshed.access_token)).toBe(200)
    await openid.tokenRevocation(config, refreshed.refresh_token ?? '')
    expect(await statusOf(refreshed.access_token)).toBe(401)
  })

  test('understands that the person refused', async () => {
    const { config, location, checks } = await asked()
    const refusal = openid.authorizationCodeGrant(config, await decide(location, false), checks)
    await expect(refusal).rejects.toMatchObject({ error: 'access_denied' })
  })
})

describe.each(FOREIGN_CLIENTS)('%s', (_name, client) => {
  test.each(['', '@main'])('is sent to the person, reads the repository and refreshes by itself (address%s)', async suffix => {
    const url = new URL(resourceOf(suffix))
    const keeper = new Keeper()
    const read = () => readSkill(client, url, keeper, 'SKILL.md')
    await expect(read()).rejects.toThrow(/unauthorized/i)
    const { location } = keeper.kept
    if (!location) throw new Error('the client sent nobody anywhere')
    expect(location.searchParams.get('resource')).toBe(url.href)
    await client.finish(url, providerOf(keeper), await decide(location))
    expect(await read()).toContain('Fill the form.')

    const first = keeper.kept.tokens
    keeper.kept.tokens = { ...first, access_token: 'mga_forgotten' }
    expect(await read()).toContain('Fill the form.')
    expect(keeper.kept.tokens?.refresh_token).not.toBe(first?.refresh_token)
  })
})

test('v5.0.0-16.2.5: no token of theirs is in the log', () => {
  expect(service.output()).toContain('/oauth/token')
  expect(service.output()).not.toMatch(/mg[ars]_[0-9A-Za-z]{83}/)
})
