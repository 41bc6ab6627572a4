import type { IncomingHttpHeaders } from 'node:http'
import type { AccountNotice } from '#core/contract/account-pages.ts'
import type { User } from '#core/contract/people.ts'
import type { ApiClient, Credentials } from './api-client.ts'

/** A session of a person. */
export interface SessionItem {
  id: string
  createdAt: string
  /** At most an hour old. */
  seenAt: string
  /** The session of the request. */
  isCurrent: boolean
  /** What the browser calls itself; `null` without a known name. */
  browser: { name: string; system: string | null } | null
}

/** What pages learn about people from the service directly, without the REST interface. */
export interface PeopleOfPages {
  /** Whether people sign in here. Without, only the tokens of the operator are known. */
  readonly hasSignIn: boolean
  /** The headers that may say who asks; `null` when there are none, so that the page is the same for everyone. */
  credentialsOf(headers: IncomingHttpHeaders): Credentials | null
  /** Newest first; `null` when the visitor is not signed in. @throws when the records cannot be read */
  sessions(headers: IncomingHttpHeaders): Promise<SessionItem[] | null>
  /** What a form led to, once: with the value of `set-cookie` that makes the browser forget it. `null` when there is nothing to say. */
  notice(headers: IncomingHttpHeaders): Promise<{ notice: AccountNotice | null; forget: string } | null>
}

/** Who asks for a page. */
export interface Visitor {
  /** Whether people sign in here. */
  hasSignIn: boolean
  /** The person who is signed in; `null` without one, and while the API cannot answer. */
  user: Promise<User | null>
  sessions(): Promise<SessionItem[] | null>
  /** What a form led to. */
  notice: AccountNotice | null
  /** Path and query of the request, as it was sent. */
  here: string
}

/** A visitor without credentials. */
export function stranger(here: string, hasSignIn = false): Visitor {
  return { hasSignIn, user: Promise.resolve(null), sessions: async () => null, notice: null, here }
}

/** @param client asks with the credentials of the request */
export function readVisitor(client: ApiClient, people: PeopleOfPages, headers: IncomingHttpHeaders, here: string): Visitor {
  const { hasSignIn } = people
  if (!hasSignIn) return stranger(here)
  // A page does not fail because its header cannot name the person.
  const user = client.get('me', '', {}).then(
    result => (result.ok ? result.answer.user : null),
    () => null,
  )
  return { hasSignIn, user, sessions: () => people.sessions(headers), notice: null, here }
}

/** The sign-in that leads back to a path of this site. */
export function signInHref(here: string): string {
  return `/auth/sign-in?return=${encodeURIComponent(here)}`
}
