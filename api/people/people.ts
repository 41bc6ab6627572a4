import type { IncomingHttpHeaders } from 'node:http'
import type { HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import type { PersonAnswer } from '#core/ports/people-host.ts'
import type { KeyedViewer, Viewer } from './viewer.ts'

/** Who sends a request, and what the host lets them see. */
export interface People {
  /** Whether people sign in here. Without, only the operator's tokens are known, and the routes of people are 404. */
  readonly hasSignIn: boolean

  /**
   * The viewer of the session cookie. `ANONYMOUS` for nobody, also for a cookie that is no longer valid.
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
   * The repository as the person of the viewer sees it now, by the person's own credential. `missing` also when the host has ended the sign-in
   * of somebody with a cookie, and for a token whose repository now is another one of the same name.
   *
   * @throws ServiceError `auth.required` for a token of somebody whom the host no longer accepts, `auth.unavailable` when the records cannot
   * be read
   */
  see(viewer: KeyedViewer, owner: string, name: string): Promise<HostAnswer<HostRepository>>

  /** As `see`, for a person in whose name no request is running: whoever is about to approve an app, for example. */
  seeAs(person: string, owner: string, name: string): Promise<PersonAnswer<HostRepository>>
}
