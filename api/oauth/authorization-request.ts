import { z } from 'zod'
import { type Client, hashOfClient } from './clients.ts'
import { addressOf, repositoryOfResource } from './resource.ts'

/** What an app asks for, once everything of it was checked. Sealed, it travels through the browser: nothing is stored until a code is redeemed. */
export const AuthorizationRequest = z.object({
  /** Names the request. Of all codes of one request, one is redeemed. */
  jti: z.string(),
  client: z.object({ h: z.string(), kind: z.enum(['cimd', 'dcr']), name: z.string(), uri: z.string().nullable() }),
  redirectUri: z.string(),
  state: z.string().nullable(),
  challenge: z.string(),
  /** `/gh/<owner>/<name>`, spelled as the app did. */
  address: z.string(),
  scope: z.string(),
})
export type AuthorizationRequest = z.infer<typeof AuthorizationRequest>

/** The query of a request; parameters that are repeated come as a list. */
export type Query = Readonly<Record<string, string | readonly string[]>>

export const STATE_CHARACTERS = 2_048

/** Why an app gets an error instead of a code (RFC 6749, 4.1.2.1; RFC 8707, 2). */
export class RefusedRequest extends Error {
  readonly code: 'invalid_request' | 'unsupported_response_type' | 'invalid_scope' | 'invalid_target' | 'access_denied'

  constructor(code: RefusedRequest['code'], message: string) {
    super(message)
    this.name = 'RefusedRequest'
    this.code = code
  }
}

/**
 * Checks the parameters of a request whose client and redirect URI are known.
 *
 * @throws RefusedRequest
 */
export function parseAuthorizationRequest(
  query: Query,
  { client, redirectUri }: { client: Client; redirectUri: string },
  { jti, baseUrl, hosts }: { jti: string; baseUrl: string; hosts: readonly string[] },
): AuthorizationRequest {
  const state = readState(query)
  const responseType = one(query, 'response_type')
  if (responseType === null) throw new RefusedRequest('invalid_request', 'response_type is missing')
  if (responseType !== 'code') throw new RefusedRequest('unsupported_response_type', 'response_type must be code')
  if (!['query', null].includes(one(query, 'response_mode')))
    throw new RefusedRequest('invalid_request', 'response_mode must be query')
  const { id, kind, name, uri } = client
  return {
    jti,
    client: { h: hashOfClient(id), kind, name, uri },
    redirectUri,
    state,
    challenge: readChallenge(query),
    address: readResource(query, baseUrl, hosts),
    scope: readScope(one(query, 'scope')),
  }
}

/** @throws RefusedRequest for one that is repeated or too long: what is answered then has no state */
export function readState(query: Query): string | null {
  const state = one(query, 'state')
  if (state !== null && state.length > STATE_CHARACTERS)
    throw new RefusedRequest('invalid_request', `state has more than ${STATE_CHARACTERS} characters`)
  return state
}

/** The value of a parameter; `null` when it is absent or empty. @throws RefusedRequest when it is repeated */
export function one(query: Query, name: string): string | null {
  const value = query[name] ?? ''
  if (typeof value !== 'string') throw new RefusedRequest('invalid_request', `${name} is repeated`)
  return value === '' ? null : value
}

function readChallenge(query: Query): string {
  const challenge = one(query, 'code_challenge')
  if (challenge === null || one(query, 'code_challenge_method') !== 'S256')
    throw new RefusedRequest('invalid_request', 'PKCE is required: send code_challenge, with code_challenge_method=S256')
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) throw new RefusedRequest('invalid_request', 'code_challenge is no S256 challenge')
  return challenge
}

function readResource({ resource }: Query, baseUrl: string, hosts: readonly string[]): string {
  const repository = typeof resource === 'string' ? repositoryOfResource(resource, baseUrl, hosts) : null
  if (repository === null)
    throw new RefusedRequest('invalid_target', `resource must be given once, as ${baseUrl}/mcp/<address of a repository>`)
  return addressOf(repository)
}

const SCOPES = ['read', 'offline_access']

/** Scopes that are not known here are dropped (RFC 6749, 3.3). */
function readScope(text: string | null): string {
  const asked = text?.split(' ') ?? ['read']
  const known = SCOPES.filter(scope => asked.includes(scope))
  if (!known.includes('read')) throw new RefusedRequest('invalid_scope', 'the scope is read')
  return known.join(' ')
}
