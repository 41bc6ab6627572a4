import type { IncomingHttpHeaders } from 'node:http'
import type { HostAnswer, HostRepository } from '#core/ports/git-host.ts'
import type { PersonAnswer } from '#core/ports/people-host.ts'
import type { Account } from './account.ts'
import type { Foundation } from './foundation.ts'
import type { SignIn } from './sign-in.ts'
import type { KeyedViewer, Viewer } from './viewer.ts'

/** Segment of the host whose accounts people sign in with. Only its repositories are looked up for a person. */
export const PEOPLE_HOST = 'gh'

/** Who sends a request, and what the host lets them see. */
export interface People {
  /** How people sign in and out; `null` where nobody does. Then only the operator's tokens are known, and the routes of people are 404. */
  readonly signIn: SignIn | null
  /** What people see and change of themselves; `null` where sign-in is not set up. */
  readonly account: Account | null
  /** For what else acts in the name of people. */
  readonly foundation: Foundation

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

  /** As `see`, where `signed_out` is answered as such: for somebody who is about to let an app read. @param person names their record */
  seeAs(person: string, owner: string, name: string): Promise<PersonAnswer<HostRepository>>

  /** Refreshes the credentials of everybody with a living token or grant that were not refreshed for long: a host lets unused ones end. */
  keepAlive(): Promise<void>

  /** Waits for what is being noted. */
  close(): Promise<void>
}
