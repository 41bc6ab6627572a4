import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'
import { identify } from '../http/admit.ts'
import { PEOPLE_HOST, type People } from '../people/people.ts'
import { bearerOf } from '../people/presented.ts'
import { ANONYMOUS, type Viewer } from '../people/viewer.ts'

/**
 * Who sends a message: told by a token alone, since any origin may send messages, and browsers add cookies. The server without an address reads
 * what is public, for everybody alike.
 *
 * @throws ServiceError `auth.required`, `auth.unavailable`
 */
export async function identifyClient(
  people: People | null,
  { headers: { authorization } }: Pick<FastifyRequest, 'headers'>,
  rawAddress: string,
): Promise<Viewer> {
  if (rawAddress === '' || authorization === undefined) return ANONYMOUS
  return await identify(people, { authorization }, 'bearer')
}

export function hasSignIn({ people }: Pick<Deps, 'people'>): boolean {
  return people?.signIn != null
}

export interface Challenged {
  /** Percent-encoded, as the client wrote it. */
  rawAddress: string
  hosts: readonly string[]
  /** Public origin. */
  baseUrl: string
  hasSignIn: boolean
}

/**
 * The error of a request, with the challenge that makes a client start a sign-in. Where sign-in is set up, an anonymous client gets the same error
 * and challenge for a private repository and for one that does not exist.
 */
export function challenged(thrown: unknown, request: FastifyRequest, reply: FastifyReply, of: Challenged): unknown {
  if (!(thrown instanceof ServiceError)) return thrown
  const isRefusedToken = thrown.code === 'auth.required'
  const isChallenge = of.hasSignIn && of.rawAddress !== '' && isOfPeopleHost(of)
  const isHidden = thrown.code === 'mount.repo_not_found' && bearerOf(request.headers) === null
  if (!isRefusedToken && !(isHidden && isChallenge)) return thrown
  const error = isRefusedToken ? ['error="invalid_token"'] : []
  const metadata = isChallenge ? [`resource_metadata="${metadataUrl(of)}"`, 'scope="read"'] : []
  reply.header('www-authenticate', `Bearer ${[...error, ...metadata].join(', ')}`)
  return isRefusedToken ? thrown : new ServiceError('auth.required')
}

function isOfPeopleHost({ rawAddress, hosts }: Challenged): boolean {
  try {
    return parseAddress(rawAddress, hosts).host === PEOPLE_HOST
  } catch {
    return false
  }
}

/** Of the URL that the client used: it compares the resource that the metadata names with it. */
function metadataUrl({ baseUrl, rawAddress }: Challenged): string {
  const safe = rawAddress.replace(/[^\w.~!$&'()*+,;=:@%/-]/g, character => encodeURIComponent(character))
  return `${baseUrl}/.well-known/oauth-protected-resource/mcp/${safe.replace(/^\//, '')}`
}
