import type { FakeClock } from './clock.ts'

/**
 * Everything the stand-in knows. Tests change its objects in place: `repository.visibility = 'private'` is what the host
 * says from the next request on.
 */
export interface World {
  readonly clock: FakeClock
  readonly accounts: Set<Account>
  readonly repositories: Set<Repository>
  readonly apps: Set<App>
  readonly installations: Set<Installation>
  /** `client_id` of OAuth apps, which have nothing but a secret. */
  readonly oauthClients: Map<string, string>
  readonly tokens: Map<string, Token>
  readonly refreshTokens: Map<string, RefreshToken>
  readonly codes: Map<string, Code>
  /** Who sits at the browser that is sent to the sign-in page, and what that person decides. */
  browser: { user: Account; approves: boolean } | null
  /** As on an Enterprise Server that shows nothing to who is not signed in. */
  privateMode: boolean
  /** Which one a name means that is both a branch and a tag. UNVERIFIED of the real host: a driver must not depend on it. */
  ambiguousRefs: 'branch' | 'tag'

  /** Takes in what has come to lie in the folder, and lets go of what is gone. Look-ups and listings do so by themselves. */
  look(): Promise<void>
  account(login: string): Promise<Account | null>
  /** Any case; never one that was renamed. */
  repository(owner: string, name: string): Promise<Repository | null>
  repositoryById(id: number): Promise<Repository | null>
  accountRepositories(account: Account): Promise<Repository[]>
  /** The repository that had this name before. */
  renamed(owner: string, name: string): Repository | null
  /** Of the same fork network: whose objects all of them can read by id. */
  network(repository: Repository): Repository[]

  addAccount(login: string, type: Account['type'], options?: Partial<AccountOptions>): Account
  addRepository(place: RepositoryPlace, options?: Partial<RepositoryOptions>): Repository
  rename(repository: Repository, to: { owner?: Account; name?: string }): void
  remove(repository: Repository): void
  addApp(slug: string, options?: Partial<AppOptions>): App
  install(app: App, account: Account, options?: Partial<InstallationOptions>): Installation
  /** Forgets everything; what lies in the folder is found again. */
  clear(): void
}

export type Role = 'read' | 'triage' | 'write' | 'maintain' | 'admin'

export interface AccountOptions {
  name: string | null
  /** The text of a person; an organisation has its text as `description`. */
  bio: string | null
  description: string | null
  avatar: AvatarKind
  createdAt: string
  /** Of an organisation. */
  members: Map<Account, 'member' | 'admin'>
  /** What members may do in every private repository of the organisation. */
  basePermission: Role | null
  /** Of an organisation: persons must have signed in to it. Those who did are here. */
  saml: { authorized: Set<Account> } | null
  /** Of an organisation: what the host answers to every token of a person, for public repositories too. */
  refusesTokens: { api: string; git: string } | null
  /** Of an organisation: its IP allow list lacks the address that asks, so every credential that reaches its repositories is refused. */
  refusesAddress: boolean
  /** Of a person: the host refuses every token of the account. */
  suspended: boolean
}

export interface Account extends AccountOptions {
  readonly id: number
  readonly type: 'User' | 'Organization'
  login: string
}

export type AvatarKind = 'png' | 'svg' | 'html' | 'huge' | 'redirect' | 'missing'

export interface RepositoryPlace {
  owner: string
  name: string
  gitDir: string
}

export interface RepositoryOptions {
  visibility: 'public' | 'private' | 'internal'
  /** Default: the description file of the git folder. */
  description: string | null
  homepage: string | null
  topics: string[]
  archived: boolean
  disabled: boolean
  stars: number
  /** Makes it a fork: of one network with this repository. */
  forkOf: Repository | null
  /** Default: the date of the newest commit. */
  pushedAt: string | null
  createdAt: string
  blocked: Blocked | null
  /** Entries after which a recursive tree is cut. */
  treeLimit: number
  /** Beside the owner and the members of an organisation. */
  collaborators: Map<Account, Role>
}

export interface Repository extends RepositoryOptions {
  readonly id: number
  readonly gitDir: string
  owner: Account
  name: string
}

export interface Blocked {
  reason: 'dmca' | 'tos' | 'unavailable'
  createdAt: string
}

export interface AppOptions {
  name: string
  owner: Account
  clientId: string
  clientSecret: string
  webhookSecret: string
  callbackUrls: string[]
  setupUrl: string | null
  permissions: Record<string, string>
  /** Whether the tokens of persons end after eight hours and come with a refresh token. */
  expiringTokens: boolean
}

export interface App extends AppOptions {
  readonly id: number
  readonly slug: string
  readonly createdAt: string
  /** PKCS#8 PEM. */
  readonly privateKey: string
  readonly publicKey: string
}

export interface InstallationOptions {
  selection: 'all' | 'selected'
  /** What `selected` selects. */
  repositories: Set<Repository>
  suspendedAt: string | null
  permissions: Record<string, string>
}

export interface Installation extends InstallationOptions {
  readonly id: number
  readonly app: App
  readonly account: Account
  readonly createdAt: string
}

export type Token =
  /** `scopes` of a fine-grained token: `repo` when it may read private repositories. */
  | { kind: 'personal'; user: Account; scopes: string[]; isFineGrained: boolean; endsAt: number | null }
  | { kind: 'user'; user: Account; app: App; endsAt: number | null; issuedAt: number }
  | {
      kind: 'installation'
      installation: Installation
      /** `null`: whatever the installation covers. */
      repositories: Set<Repository> | null
      permissions: Record<string, string>
      endsAt: number
    }

export interface RefreshToken {
  user: Account
  app: App
  accessToken: string
  endsAt: number
}

export interface Code {
  user: Account
  app: App
  redirectUri: string | null
  challenge: string | null
  endsAt: number
}

export function isSameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase()
}

export function sourceOf(repository: Repository): Repository {
  return repository.forkOf === null ? repository : sourceOf(repository.forkOf)
}

/** Whether the installation reaches the repository, suspended or not. */
export function isInstalledOn(installation: Installation, repository: Repository): boolean {
  if (installation.account !== repository.owner) return false
  return installation.selection === 'all' || installation.repositories.has(repository)
}
