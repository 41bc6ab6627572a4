import {
  type CallToolResult,
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { textOf } from './scene.ts'

/** Where the browser goes back to. Nothing listens there: tests look at the address alone. */
export const REDIRECT = 'http://127.0.0.1:33418/callback'
export const METADATA = { client_name: 'An app', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' }

interface Tokens {
  access_token: string
  refresh_token?: string
}

/** What an app keeps. The two clients of the protocol ask for it in the same way. */
export class Keeper {
  readonly redirectUrl = REDIRECT
  readonly clientMetadata = METADATA
  readonly clientMetadataUrl?: string
  kept: { client?: { client_id?: string }; tokens?: Tokens; verifier?: string; location?: URL; discovery?: unknown } = {}

  /** @param clientMetadataUrl of an app whose id is the URL of its metadata. Default: it registers */
  constructor(clientMetadataUrl?: string) {
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl
  }
  clientInformation() {
    return this.kept.client
  }
  saveClientInformation(client: { client_id?: string }) {
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
  /** The service said that they are worth nothing. Without them, the app sends the person to it again. */
  invalidateCredentials(what: string) {
    if (what === 'all' || what === 'tokens') delete this.kept.tokens
    if (what === 'all' || what === 'client') delete this.kept.client
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

/** A client of the protocol that nobody here wrote. */
export interface ForeignClient {
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

export const FOREIGN_CLIENTS: readonly (readonly [name: string, client: ForeignClient])[] = [
  ['@modelcontextprotocol/client by the newest revision', newest('auto')],
  ['@modelcontextprotocol/client by an older revision', newest('legacy')],
  ['@modelcontextprotocol/sdk', older],
]

/** What the client reads of a skill, by the tokens that the app keeps. */
export async function readSkill({ connect }: ForeignClient, url: URL, keeper: Keeper, path: string): Promise<string> {
  const client = await connect(url, providerOf(keeper))
  const answer = await client.callTool({ name: 'load_skill', arguments: { path } })
  await client.close()
  return textOf(answer as CallToolResult)
}

export function providerOf(keeper: Keeper): OAuthClientProvider {
  return keeper as unknown as OAuthClientProvider
}
