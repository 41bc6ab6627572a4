import type { FastifyRequest } from 'fastify'
import type { Awaitable } from '#core/concurrency/awaitable.ts'
import type { EndpointCredential, EndpointGuard } from '#core/contract/endpoints.ts'
import { ServiceError } from '#core/errors.ts'
import { requireOwnPages } from '../people/own-pages.ts'
import type { People } from '../people/people.ts'
import { bearerOf } from '../people/presented.ts'
import { ANONYMOUS, type Viewer } from '../people/viewer.ts'

/** Who is admitted to what. */
export interface Admission {
  /** `null`: everybody is anonymous. */
  people: People | null
  /** Public origin of the deployment, where its own pages are. */
  origin: string
}

/**
 * The viewer of a request, if the guard admits it. Where the request comes from is checked before anybody is looked up.
 *
 * @throws ServiceError `auth.forbidden_origin`, `auth.required`, `auth.unavailable`
 */
export function admit(
  { people, origin }: Admission,
  { headers }: Pick<FastifyRequest, 'headers'>,
  { guard, credential }: { guard: EndpointGuard; credential: EndpointCredential },
): Awaitable<Viewer> {
  if (guard === 'own_pages') requireOwnPages(headers, origin)
  const viewer = identify(people, headers, credential)
  if (guard === 'anyone') return viewer
  return viewer instanceof Promise ? viewer.then(requirePerson) : requirePerson(viewer)
}

/** With a token, the cookie is not looked at. @throws ServiceError `auth.required` for a token that is not valid, `auth.unavailable` */
export function identify(
  people: People | null,
  headers: FastifyRequest['headers'],
  credential: EndpointCredential,
): Awaitable<Viewer> {
  if (credential === 'none') return ANONYMOUS
  const token = bearerOf(headers)
  if (token === null) return people === null || headers.cookie === undefined ? ANONYMOUS : people.bySession(headers)
  // A token is no session.
  if (credential === 'session') return ANONYMOUS
  if (people === null) throw new ServiceError('auth.required')
  return people.byBearer(token)
}

function requirePerson(viewer: Viewer): Viewer {
  if (viewer.kind !== 'person') throw new ServiceError('auth.required')
  return viewer
}
