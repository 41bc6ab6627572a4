import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { EndpointCredential, EndpointGuard } from '#core/contract/endpoints.ts'
import { ServiceError } from '#core/errors.ts'
import type { RequestOrigin } from '../people/audit.ts'
import type { People } from '../people/people.ts'
import { isSameOrigin, presentedToken } from '../people/request-credentials.ts'
import { ANONYMOUS, type Viewer } from '../people/viewer.ts'

/** Who may call a route. `own_pages_of_anyone`: a page of this deployment, signed in or not. */
export type RouteGuard = EndpointGuard | 'own_pages_of_anyone'

/** Who is admitted to what. */
export interface Admission {
  /** `null`: everybody is anonymous. */
  people: People | null
  /** Public origin of the deployment, where its own pages are. */
  origin: string
}

/**
 * The viewer of a request, if the guard admits it. The origin is checked before a session or token is looked up.
 *
 * @throws ServiceError `auth.forbidden_origin`, `auth.required`, `auth.unavailable`
 */
export async function admit(
  { people, origin }: Admission,
  request: FastifyRequest,
  { guard, credential }: { guard: RouteGuard; credential: EndpointCredential },
): Promise<Viewer> {
  const { headers } = request
  if (requiresSameOrigin(guard) && !isSameOrigin(headers, origin)) {
    people?.context.audit.note('origin.refused', { origin: originOf(request) })
    throw new ServiceError('auth.forbidden_origin')
  }
  const viewer = await identify(people, headers, credential)
  if (guard === 'anyone' || guard === 'own_pages_of_anyone') return viewer
  if (viewer.kind !== 'person') throw new ServiceError('auth.required')
  return viewer
}

/** With a token, the cookie is not looked at. @throws ServiceError `auth.required` for a token that is not valid, `auth.unavailable` */
export async function identify(
  people: People | null,
  headers: FastifyRequest['headers'],
  credential: EndpointCredential,
): Promise<Viewer> {
  if (credential === 'none') return ANONYMOUS
  const token = presentedToken(headers, people?.signIn != null)
  if (token === null) return people === null || headers.cookie === undefined ? ANONYMOUS : people.bySession(headers)
  // A token is no session.
  if (credential === 'session') return ANONYMOUS
  if (people === null) throw new ServiceError('auth.required')
  return people.byBearer(token)
}

function requiresSameOrigin(guard: RouteGuard): boolean {
  return guard === 'own_pages' || guard === 'own_pages_of_anyone'
}

/** How the audit log names a request. */
export function originOf({ id, ip }: Pick<FastifyRequest, 'id' | 'ip'>): RequestOrigin {
  return { requestId: id, ip }
}

/**
 * What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, since a single line has all addresses below them.
 *
 * @param address as a socket tells it
 */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [before = '', after] = address.replace(/%.*/, '').split('::')
  const [left, right] = [before, after ?? ''].map(part => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const zeros = after === undefined ? [] : new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map(group => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
