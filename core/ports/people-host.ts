import type { HostAnswer, HostRepository } from './git-host.ts'

/** A git host whose accounts sign in to this deployment. Every question carries the credential of the person who asks. */
export interface PeopleHost {
  /** The host's page on which an account installs the app of this deployment; `null` when it is not known. */
  readonly installUrl: string | null

  /**
   * The host's page on which a person approves the sign-in.
   *
   * @param challenge S256 challenge of PKCE
   */
  signInUrl(request: { state: string; challenge: string; redirectUri: string }): string

  /** Exchanges the code of a callback. `refused`: the host does not accept the code or the verifier. */
  exchange(proof: { code: string; verifier: string; redirectUri: string }): Promise<CredentialAnswer>

  /** Exchanges the refresh token. The host ends the old pair at once. `refused`: the host no longer accepts it. */
  refresh(refreshToken: string): Promise<CredentialAnswer>

  /** The account of the credential. */
  person(access: PersonAccess): Promise<PersonAnswer<HostPerson>>

  /**
   * The repository as the person sees it, public or private. The answer is at most 30 s old, or 10 s where it is `missing`.
   * `missing`: it does not exist, or the person may not see it; the caller cannot tell which.
   */
  repository(access: PersonAccess, owner: string, name: string): Promise<PersonAnswer<HostRepository>>

  /** The same repository by `HostRepository.id`, under the name that it has now. */
  repositoryById(access: PersonAccess, id: string): Promise<PersonAnswer<HostRepository>>

  /** The repositories that both the person and the app reach, within `INSTALLATION_BOUNDS`. */
  installations(access: PersonAccess): Promise<PersonAnswer<HostInstallations>>

  /** Ends the credential at the host. Best effort: never rejects. */
  revoke(access: PersonAccess): Promise<void>

  /** Ends the person's authorization of the app, with all its credentials. `ok`: it is over, or was already. */
  forget(access: PersonAccess): Promise<PersonAnswer<null>>
}

/** Installations and repositories that `installations` lists at most. */
export const INSTALLATION_BOUNDS = { installations: 10, repositories: 500 } as const

export interface PersonAccess {
  /** Identifies the person in caches. */
  key: string
  accessToken: string
}

/** `signed_out`: the host no longer accepts the credential. */
export type PersonAnswer<Value> = HostAnswer<Value> | { status: 'signed_out' }

export type CredentialAnswer =
  | { status: 'ok'; value: HostCredential }
  | { status: 'refused' }
  | { status: 'rate_limited' | 'unavailable'; retryAfterSeconds: number | null }

/** What a host gives for a sign-in. Instants are ISO 8601; `null`: it does not expire, or there is none. */
export interface HostCredential {
  accessToken: string
  expiresAt: string | null
  refreshToken: string | null
  refreshExpiresAt: string | null
}

export interface HostPerson {
  /** The host's id of the account, in the form of `HostAccount.id`. Survives a change of the login. */
  id: string
  login: string
  name: string | null
  avatar: string
}

export interface HostInstallations {
  items: HostInstallation[]
  /** Some installations were left out. */
  truncated: boolean
}

export interface HostInstallation {
  account: { login: string; kind: 'organization' | 'user'; avatar: string }
  /** The host's page on which the installation is changed; `null` when the host names none. */
  manageUrl: string | null
  selection: 'all' | 'selected'
  repositories: HostRepository[]
  /** Some repositories were left out. */
  truncated: boolean
}
