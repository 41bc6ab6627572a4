import { setMaxListeners } from 'node:events'
import { HOST_NAMES } from '#core/address.ts'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import {
  type AvatarSource,
  type BlobSelection,
  type GitHost,
  type HostAnswer,
  type HostHook,
  type HostQuota,
  type HostRefs,
  type HostRepository,
  type HostUrls,
  type PathHistory,
  ReadError,
  type ReadLimits,
  type RepositoryReader,
} from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { encodePath } from '#core/repo-path.ts'
import { removeLeftoverViews } from '../git/view.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { apiVersion, createGitHubApi, type GitHubApi } from './api.ts'
import { createAppTokens, type GitHubApp, type RepositoryTokens } from './app-tokens.ts'
import { createAvatars } from './avatars.ts'
import { createBlockedRepositories } from './blocked.ts'
import { type CommitMembership, createCommitMembership } from './commit-membership.ts'
import { type Credential, type CredentialHandover, createCredential } from './credential.ts'
import { createDailyWarnings } from './daily-warnings.ts'
import { createGitPauses } from './git-pauses.ts'
import { createGitRemotes } from './git-remotes.ts'
import { createLsRemote } from './ls-remote.ts'
import { createReaders, type Readers } from './open-reader.ts'
import { createPathHistories, type PathHistories } from './path-history.ts'
import { createPeople, type GitHubPeople } from './people.ts'
import { createPrivateRepositories, type PrivateRepositories } from './private-repositories.ts'
import { createRefs, type Refs } from './refs.ts'
import { createRepositories, DESCRIBED_SECONDS, type Repositories, SHOWN_SECONDS } from './repositories.ts'
import { READ_RETRIES, type RetryTimes, retry } from './retry.ts'
import type { SharedCache } from './shared-cache.ts'
import { createWebhook, type HostChange } from './webhook.ts'

export interface GitHubHostOptions {
  /** Origin of the host's pages: `https://github.com`, without a trailing slash. */
  url: string
  /** `https://api.github.com`, or `https://<host>/api/v3` of an Enterprise Server. */
  apiUrl: string
  /** For public repositories; without a token the host answers 60 questions an hour. */
  token: string | null
  /** `null`: webhook deliveries are not accepted. */
  webhookSecret: string | null
  /** The App with which people sign in. Default: sign-in is not set up. */
  app?: GitHubApp | null
  /** Tokens for private repositories. Default: those that the App makes. */
  tokens?: RepositoryTokens | null
  /** Origins that serve the pictures of accounts. Default: none, so that accounts have no pictures. */
  avatarOrigins?: readonly string[]
  clock: Clock
  /** Receives warnings for the operator. */
  onWarning: (message: string) => void
  /** Told of what a webhook changed, for the other processes of the deployment. Default: there are none. */
  onHeard?: (change: HostChange) => void
  /** The answers of all processes of the deployment. Default: this process shares none. */
  shared?: SharedCache | null
  /** What the process that started this one knows of the token. Default: none did. */
  parent?: CredentialHandover | null
  /** For tests. */
  timeouts?: HostTimeouts
}

/** Timeouts in milliseconds. Default: those of this module and of `api.ts`. */
export interface HostTimeouts {
  /** How long a visitor waits for one answer. */
  patienceMs?: number
  /** How long a request may take. */
  answerMs?: number
  /** A request that fails sooner than this is retried once. */
  retryWithinMs?: number
  /** How long a job goes on asking a host that fails. */
  readRetries?: RetryTimes
}

/** Timeout of one answer: a visitor waits for two, six seconds at most. */
export const PATIENCE_MS = 2_800

const MISSING = { status: 'missing' } as const
const GONE = { status: 'gone' } as const

export type { GitHubHost }

export async function openGitHubHost(options: GitHubHostOptions): Promise<GitHubHost> {
  await removeLeftoverViews(new Date())
  return new GitHubHost(options)
}

/** Composes the parts of the driver. Each part has its own questions and cache times. */
class GitHubHost implements GitHost {
  readonly segment = 'gh'
  readonly isRemote = true
  readonly urls: HostUrls
  readonly accounts: Accounts
  readonly avatars: AvatarSource
  readonly hook?: HostHook
  /** `null`: sign-in is not set up. */
  readonly people: GitHubPeople | null
  /** `null`: no private repository is read. */
  readonly tokens: RepositoryTokens | null
  readonly #private: PrivateRepositories | null
  readonly #api: GitHubApi
  readonly #credential: Credential
  readonly #repositories: Repositories
  readonly #refs: Refs
  readonly #membership: CommitMembership
  /** The commit of the default branch of a public repository. */
  readonly #askTip: (repository: HostRepository) => Promise<HostAnswer<CommitSha>>
  readonly #listRefs: (repository: HostRepository) => Promise<HostAnswer<HostRefs>>
  readonly #histories: PathHistories
  readonly #readers: Readers
  readonly #readRetries: RetryTimes
  readonly #closing = new AbortController()

  constructor({ url, token, clock, webhookSecret, timeouts = {}, ...options }: GitHubHostOptions) {
    const closing = this.#closing.signal
    const credential = createCredential(token, clock, options.parent ?? null)
    const warn = createDailyWarnings(clock, options.onWarning)
    // The API of an Enterprise Server has the origin of its pages.
    const isEnterprise = options.apiUrl.startsWith(`${url}/`)
    const api = createGitHubApi({ ...options, ...timeouts, isEnterprise, credential, clock, closing, warn })
    const pauses = createGitPauses(clock)
    const remotes = createGitRemotes({ url, credential, warn, pauses })
    const shared = options.shared ?? null
    const common = {
      api,
      remotes,
      clock,
      closing,
      patienceMs: PATIENCE_MS,
      readRetries: READ_RETRIES,
      ...timeouts,
      url,
      shared,
    }
    const lsRemote = createLsRemote(common)
    const blocked = createBlockedRepositories({ ...common, lsRemote })
    const repositories = createRepositories({ ...common, lsRemote, blocked, requiresSignIn: isEnterprise })
    const refs = createRefs({ ...common, lsRemote, repositories })
    const accounts = createAccounts({
      ...common,
      shown: async (owner, name) => this.#repository(owner, name, SHOWN_SECONDS),
      blocked,
    })
    const access = { ...common, apiUrl: options.apiUrl, version: apiVersion(isEnterprise), warn, pauses }
    const { app = null } = options
    const onShownPublic = (repository: HostRepository) => this.#repositories.noteOpened(repository)
    this.people = app && createPeople({ ...access, app, isEnterprise, onShownPublic })
    this.tokens = options.tokens ?? (app && createAppTokens({ ...access, app }))
    this.#private = this.tokens && createPrivateRepositories({ ...access, tokens: this.tokens })
    this.#api = api
    this.#credential = credential
    this.#readRetries = common.readRetries
    this.#repositories = repositories
    this.#refs = refs
    this.#askTip = repository => lsRemote.tip(repository, api.maySeePrivate && !isEnterprise)
    // By git, which costs no quota.
    this.#listRefs = repository => lsRemote.list(repository, SHOWN_SECONDS)
    this.#membership = createCommitMembership({ ...common, lsRemote })
    this.#histories = createPathHistories(common)
    this.#readers = createReaders(common)
    this.accounts = accounts
    this.avatars = createAvatars({ origins: options.avatarOrigins ?? [], closing, ...timeouts })
    this.urls = { raw: ({ owner, name }, commit, path) => `${url}/${owner}/${name}/raw/${commit}/${encodePath(path)}` }
    if (webhookSecret !== null) {
      this.hook = createWebhook({
        secret: webhookSecret,
        onHeard: change => {
          options.onHeard?.(change)
          return this.applyChange(change)
        },
        onWarning: options.onWarning,
      })
    }
    setMaxListeners(0, closing)
  }

  /** Drops the cached answers that the change outdates. @returns whether this process has resolved a ref that moved */
  applyChange(change: HostChange): boolean {
    const { repositories, accounts, refs } = change
    this.people?.applyChange(change)
    const isOpenedPrivate = this.#private?.applyChange(change) ?? false
    if (repositories.length > 0) {
      this.#repositories.forget(repositories)
      this.#refs.forget(new Set(repositories.map(({ id }) => id)))
      const owners = repositories.map(({ fullName }) => fullName.slice(0, fullName.indexOf('/')).toLowerCase())
      this.accounts.forgetListings(new Set(owners))
    }
    if (accounts.length > 0) {
      const logins = new Set(accounts.map(login => login.toLowerCase()))
      this.#refs.forget(this.#repositories.forgetAccounts(logins))
      this.accounts.forget(logins)
    }
    return refs.map(({ id, ref }) => this.#refs.expire(id, ref)).some(isOpened => isOpened) || isOpenedPrivate
  }

  /** Expires all cached answers, after changes that this process may have missed. */
  expireAll(): void {
    this.people?.forgetAll()
    this.#private?.expireAll()
    this.#repositories.expireAll()
    this.#refs.expireAll()
    this.accounts.expireAll()
  }

  repository(owner: string, name: string): Promise<HostAnswer<HostRepository>> {
    // With a credential that sees private repositories, no other answer proves that a repository is still public.
    return this.#repository(owner, name, this.#api.maySeePrivate ? SHOWN_SECONDS : DESCRIBED_SECONDS)
  }

  async #repository(owner: string, name: string, freshSeconds: number): Promise<HostAnswer<HostRepository>> {
    if (!HOST_NAMES.gh.owner.test(owner) || !HOST_NAMES.gh.repository.test(name)) return MISSING
    return this.#repositories.find(owner, name, freshSeconds)
  }

  async resolve(repository: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha> | { status: 'gone' }> {
    if (repository.visibility === 'private') return this.#private?.resolve(repository, ref) ?? GONE
    if (ref !== null && isCommitSha(ref)) return this.#resolvePinned(repository, ref.toLowerCase() as CommitSha)
    const answer = await this.#refs.resolve(repository, ref)
    if (answer.status !== 'missing' || !this.#repositories.isGone(repository)) return answer
    this.#refs.forget(new Set([repository.id]))
    return GONE
  }

  refs(repository: HostRepository): Promise<HostAnswer<HostRefs>> {
    if (repository.visibility === 'private') return this.#private?.refs(repository) ?? Promise.resolve(MISSING)
    return this.#listRefs(repository)
  }

  history(repository: HostRepository, commit: CommitSha, paths: readonly string[]): Promise<HostAnswer<PathHistory>> {
    const histories = repository.visibility === 'private' ? this.#private?.histories : this.#histories
    return histories?.read(repository, commit, paths) ?? Promise.resolve(MISSING)
  }

  parent(repository: HostRepository, commit: CommitSha): Promise<HostAnswer<CommitSha | null>> {
    const histories = repository.visibility === 'private' ? this.#private?.histories : this.#histories
    return histories?.parent(repository, commit) ?? Promise.resolve(MISSING)
  }

  tip(repository: HostRepository): Promise<HostAnswer<CommitSha>> {
    if (repository.visibility === 'private') return this.#private?.tip(repository) ?? Promise.resolve(MISSING)
    return this.#askTip(repository)
  }

  async #resolvePinned(repository: HostRepository, commit: CommitSha): Promise<HostAnswer<CommitSha> | { status: 'gone' }> {
    const answer = await this.#membership.resolve(repository, commit)
    if (answer.status !== 'ok' || this.#repositories.wasShownLately(repository)) return answer
    // A cached pin does not prove that the repository is still public.
    const shown = await this.#repositories.find(repository.owner, repository.name, SHOWN_SECONDS)
    if (shown.status === 'ok' || shown.status === 'missing') return this.#repositories.isGone(repository) ? GONE : answer
    return shown
  }

  async open(
    repository: HostRepository,
    commit: CommitSha,
    limits: ReadLimits,
    selection?: BlobSelection,
  ): Promise<RepositoryReader> {
    if (!isCommitSha(commit)) throw new ReadError('index.fetch_failed', `not a commit id: ${JSON.stringify(commit)}`)
    if (repository.visibility === 'public') {
      await this.#requirePublic(repository)
      return this.#readers.open(repository, commit, limits, selection)
    }
    if (this.#private === null)
      throw new ReadError('index.fetch_failed', 'this deployment has no credential for private repositories')
    return this.#private.open(repository, commit, limits, selection)
  }

  /**
   * A token that sees private repositories would read one that went private since it was looked up. The commit is known by now, so what the
   * host shows to everybody now it has shown with this commit.
   *
   * @throws ReadError
   */
  async #requirePublic(repository: HostRepository): Promise<void> {
    if (!this.#api.maySeePrivate) return
    const shown = await retry({
      ask: async () => this.#repositories.look(repository),
      transientFailure: answer => (answer.status === 'unavailable' || answer.status === 'rate_limited' ? answer : null),
      times: this.#readRetries,
      signal: this.#closing.signal,
    })
    if (shown.status === 'ok' && shown.value.id === repository.id && shown.value.visibility === 'public') return
    throw new ReadError('index.fetch_failed', 'the host does not show the repository to everybody any more, or cannot be asked')
  }

  quota(): HostQuota | null {
    return this.#api.quota()
  }

  describeCredential(): Promise<string | null> {
    return this.#api.describeToken()
  }

  /** For a process that this one starts. */
  credentialHandover(): CredentialHandover {
    return this.#credential.handover()
  }

  /** What the process that started this one knows by now. */
  followCredential(parent: CredentialHandover): void {
    this.#credential.follow(parent)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#readers.close(), this.#membership.close(), this.#private?.close()])
  }
}
