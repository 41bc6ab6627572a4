import type { IncomingHttpHeaders } from 'node:http'
import type { HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import type { PersonAnswer } from '#core/ports/people-host.ts'
import type { Account } from './account.ts'
import type { PeopleContext } from './context.ts'
import type { SignIn } from './sign-in.ts'
import type { KeyedViewer, TokenViewer, Viewer } from './viewer.ts'

/** Segment of the host whose accounts people sign in with. Only its repositories are looked up for a person. */
export const PEOPLE_HOST = 'gh'

/** Who sends a request, and what the host lets them see. */
export interface People {
  /** How people sign in and out; `null` where sign-in is not set up. Then only the operator's tokens are known, and the routes of people are 404. */
  readonly signIn: SignIn | null
  /** What people see and change of themselves; `null` where sign-in is not set up. */
  readonly account: Account | null
  /** For what else acts in the name of people. */
  readonly context: PeopleContext

  /**
   * The viewer of the session cookie; `ANONYMOUS` without a cookie, and for one that is no longer valid.
   *
   * @throws ServiceError `auth.unavailable` when the records cannot be read
   */
  bySession(headers: IncomingHttpHeaders): Promise<Viewer>

  /**
   * The viewer of a bearer token.
   *
   * @throws ServiceError `auth.required` for one that is bad, expired or revoked, `auth.unavailable` when the records cannot be read
   */
  byBearer(token: string): Promise<Viewer>

  /**
   * The repository as the person of the viewer sees it now, by the person's own credential. `missing` also for a session whose person the host
   * has signed out, and for a token if another repository has taken the name since.
   *
   * @throws ServiceError `auth.required` for a token whose person the host has signed out, `auth.unavailable` when the records cannot be read
   */
  see(viewer: KeyedViewer, owner: string, name: string): Promise<HostAnswer<HostRepository>>

  /**
   * The repository of a token, as `see` answers it, under the name that it has now. The question is the same whatever name the token is used for.
   */
  seeOwn(viewer: TokenViewer): Promise<HostAnswer<HostRepository>>

  /** As `see`, but answers `signed_out`: for a person who decides whether an app may read. @param person names their record */
  seeAs(person: string, owner: string, name: string): Promise<PersonAnswer<HostRepository>>

  /** Refreshes the credentials that an active token or grant reads with and that were not used for long: the host lets unused ones expire. */
  keepAlive(): Promise<void>

  /** Waits for the notes that are being written. */
  close(): Promise<void>
}
