import {
  type CallToolResult,
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, startService } from '#test/support/service.ts'
import { decideAt, openSignInScene, type SignInScene } from '#test/support/signed-in.ts'
import { until } from '#test/support/until.ts'
import { textOf } from './scene.ts'

/*
 * Programs that nobody here wrote connect to a running service, register, are approved by a person and read a private repository. The person's
 * browser is played by requests; everything else is as it is published.
 */

const REDIRECT = 'http://127.0.0.1:33418/callback'
const METADATA = { client_name: 'An app', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' }
let scene: SignInScene
let service: Service
let cookie: string
beforeAll(async () => {
  scene = await openSignInScene()
  service = await startService({ ...scene.settings, MOUNTGLASS_LOG: 'info' })
  cookie = await scene.signIn(service.baseUrl)
  await until(async () => (await (await ask({ cookie })).text()).includes('"status":"ready"'))
})
afterAll(async () => {
  await service?.stop()
  await scene?.close()
})

const decide = (location: URL, approve?: boolean) => decideAt(service.baseUrl, cookie, location, approve)
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

interface Tokens {
  access_token: string
  refresh_token?: string
}

/** What an app keeps. The two clients of the protocol ask for it in the same way. */
class Keeper {
  readonly redirectUrl = REDIRECT
  readonly clientMetadata = METADATA
  kept: { client?: unknown; tokens?: Tokens; verifier?: string; location?: URL; discovery?: unknown } = {}

  clientInformation() {
    return this.kept.client
  }
  saveClientInformation(client: unknown) {
    this.kept.client = client
  }
  tokens() {
    return this.kept.tokens
  }
  saveTokens(tokens: Tokens) {
    this.kept.tokens = tokens
  }
  redirectToAuthorization(location: URL) {
    this.kept.location = location
  }
  saveCodeVerifier(verifier: string) {
    this.kept.verifier = verifier
  }
  codeVerifier() {
    return this.kept.verifier ?? ''
  }
  discoveryState() {
    return this.kept.discovery
  }
  saveDiscoveryState(discovery: unknown) {
    this.kept.discovery = discovery
  }
}

interface Connection {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
  close(): Promise<void>
}

interface ForeignClient {
  connect(url: URL, provider: OAuthClientProvider): Promise<Connection>
  /** With where the service sent the browser back to. */
  finish(url: URL, provider: OAuthClientProvider, back: URL): Promise<void>
}

const newest = (mode: 'auto' | 'legacy'): ForeignClient => ({
  async connect(url, authProvider) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider }))
    return client
  },
  finish: (url, authProvider, back) => new StreamableHTTPClientTransport(url, { authProvider }).finishAuth(back.searchParams),
})

const older: ForeignClient = {
  async connect(url, authProvider) {
    const client = new OlderClient({ name: 'test', version: '1' })
    await client.connect(new OlderTransport(url, { authProvider: authProvider as never }) as never)
    return client
  },
  finish: (url, authProvider, back) =>
    new OlderTransport(url, { authProvider: authProvider as never }).finishAuth(back.searchParams.get('code') ?? ''),
}

describe.each<[name: string, ForeignClient]>([
  ['@modelcontextprotocol/client by the newest revision', newest('auto')],
  ['@modelcontextprotocol/client by an older revision', newest('legacy')],
  ['@modelcontextprotocol/sdk', older],
])('%s', (_name, { connect, finish }) => {
  test.each(['', '@main'])('is sent to the person, reads the repository and refreshes on its own (address%s)', async suffix => {
    const url = new URL(resourceOf(suffix))
    const keeper = new Keeper()
    const provider = keeper as unknown as OAuthClientProvider
    const read = async () => {
      const client = await connect(url, provider)
      const answer = await client.callTool({ name: 'load_skill', arguments: { path: 'SKILL.md' } })
      await client.close()
      return textOf(answer as CallToolResult)
    }
    await expect(read()).rejects.toThrow(/unauthorized/i)
    const { location } = keeper.kept
    if (!location) throw new Error('the client sent nobody anywhere')
    expect(location.searchParams.get('resource')).toBe(url.href)
    await finish(url, provider, await decide(location))
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
