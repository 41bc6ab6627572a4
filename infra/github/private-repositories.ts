import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { entriesAtMost } from '#core/memory.ts'
import type { BlobSelection, HostAnswer, HostRefs, HostRepository, ReadLimits, RepositoryReader } from '#core/ports/git-host.ts'
import { type Remote, RemoteRefusal } from '../git/upload-pack.ts'
import type { CachedAnswer } from './answer-cache.ts'
import { type ApiAnswer, type HostFailure, Paused, type Refused, readGitFailure, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import { ApiClient, type ApiClientOptions, type AskOptions, type Question } from './api-client.ts'
import type { RepositoryTokens, TokenSubject } from './app-tokens.ts'
import { ADDRESS_REFUSED } from './ask-with-credential.ts'
import { type CommitMembership, createCommitMembership } from './commit-membership.ts'
import type { Warn } from './daily-warnings.ts'
import type { CredentialPauses, GitPauses } from './git-pauses.ts'
import type { GitRemotes } from './git-remotes.ts'
import { createLsRemote, type LsRemote } from './ls-remote.ts'
import { mapRepository } from './map-repository.ts'
import { createReaders, type Readers } from './open-reader.ts'
import { createPathHistories, type PathHistories } from './path-history.ts'
import { createRefs, type Refs } from './refs.ts'
import { SHOWN_SECONDS } from './repositories.ts'
import type { RetryTimes } from './retry.ts'
import type { HostChange } from './webhook.ts'

export interface PrivateRepositoriesOptions extends PrivateAccessOptions {
  patienceMs: number
  readRetries: RetryTimes
}

/**
 * Private repositories, read with tokens for one repository each. Callers have asked the host before whether
 * the person may see it. Other processes share none of these answers.
 */
export interface PrivateRepositories {
  resolve(repository: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha> | { status: 'gone' }>
  tip(repository: HostRepository): Promise<HostAnswer<CommitSha>>
  refs(repository: HostRepository): Promise<HostAnswer<HostRefs>>
  readonly histories: PathHistories
  open(
    repository: HostRepository,
    commit: CommitSha,
    limits: ReadLimits,
    selection: BlobSelection | undefined,
  ): Promise<RepositoryReader>
  /** Has what changed asked again. @returns whether this process has resolved a ref that moved */
  applyChange(change: HostChange): boolean
  expireAll(): void
  close(): Promise<void>
}

const GONE = { status: 'gone' } as const
const MISSING = { status: 'missing' } as const
/** Repositories whose owner is remembered, for changes of accounts. */
const REPOSITORIES = 20_000

export function createPrivateRepositories(options: PrivateRepositoriesOptions): PrivateRepositories {
  return new TokenReadRepositories(options)
}

class TokenReadRepositories implements PrivateRepositories {
  readonly #tokens: PrivateAccessOptions['tokens']
  readonly #api: PrivateAccess['api']
  readonly #lsRemote: LsRemote
  readonly #refs: Refs
  readonly #membership: CommitMembership
  readonly histories: PathHistories
  readonly #readers: Readers
  /** By id: the account, in lower case. */
  readonly #owners = new LRUCache<string, string>(entriesAtMost(REPOSITORIES))
  /** Those that the last question found missing. */
  readonly #gone = new LRUCache<string, true>(entriesAtMost(REPOSITORIES))

  constructor(options: PrivateRepositoriesOptions) {
    const { api, remotes } = createPrivateAccess(options)
    const common = { ...options, api, remotes, shared: null }
    this.#tokens = options.tokens
    this.#api = api
    this.#lsRemote = createLsRemote(common)
    const repositories = { noteShown: () => {}, look: (repository: HostRepository) => this.#look(repository) }
    this.#refs = createRefs({ ...common, lsRemote: this.#lsRemote, repositories })
    this.#membership = createCommitMembership({ ...common, lsRemote: this.#lsRemote })
    this.histories = createPathHistories(common)
    this.#readers = createReaders(common)
  }

  async resolve(repository: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha> | { status: 'gone' }> {
    this.#owners.set(repository.id, repository.owner.toLowerCase())
    // A proof is kept forever, and needs no question to the host: the person was asked about a moment ago.
    if (ref !== null && isCommitSha(ref)) return this.#membership.resolve(repository, ref.toLowerCase() as CommitSha)
    const answer = await this.#refs.resolve(repository, ref)
    if (answer.status !== 'missing' || !this.#gone.has(repository.id)) return answer
    return this.#resolveAgain(repository, ref)
  }

  tip(repository: HostRepository): Promise<HostAnswer<CommitSha>> {
    return this.#lsRemote.tip(repository, false)
  }

  refs(repository: HostRepository): Promise<HostAnswer<HostRefs>> {
    return this.#lsRemote.list(repository, SHOWN_SECONDS)
  }

  open(
    repository: HostRepository,
    commit: CommitSha,
    limits: ReadLimits,
    selection: BlobSelection | undefined,
  ): Promise<RepositoryReader> {
    return this.#readers.open(repository, commit, limits, selection)
  }

  applyChange({ repositories, accounts, refs }: HostChange): boolean {
    const logins = new Set(accounts.map(login => login.toLowerCase()))
    const owned = [...this.#owners].filter(([, login]) => logins.has(login)).map(([id]) => id)
    this.#forget([...repositories.map(({ id }) => id), ...owned])
    return refs.map(({ id, ref }) => this.#refs.expire(id, ref)).some(isOpened => isOpened)
  }

  expireAll(): void {
    this.#tokens.forget(this.#owners.keys())
    this.#refs.expireAll()
  }

  async close(): Promise<void> {
    await Promise.all([this.#readers.close(), this.#membership.close()])
  }

  /** With a new token: one of the installation at the former owner does not reach a repository that was transferred. */
  async #resolveAgain(repository: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha> | typeof GONE> {
    this.#forget([repository.id])
    const answer = await this.#refs.resolve(repository, ref)
    if (answer.status !== 'missing' || !this.#gone.has(repository.id)) return answer
    this.#forget([repository.id])
    return GONE
  }

  #forget(ids: readonly string[]): void {
    this.#tokens.forget(ids)
    this.#refs.forget(new Set(ids))
    for (const id of ids) this.#gone.delete(id)
  }

  /** The repository as the token for it sees it now. */
  async #look(repository: HostRepository): Promise<CachedAnswer<HostRepository> | HostFailure> {
    const { owner, name, id } = repository
    const answer = await this.#api.get('/repos/{owner}/{repo}', { owner, repo: name }, { of: repository })
    const found = answer.status === 'ok' ? mapRepository(answer.data) : null
    if (found?.id === id) {
      this.#gone.delete(id)
      return { status: 'ok', value: found }
    }
    if (answer.status !== 'missing' && answer.status !== 'ok')
      return answer.status === 'rate_limited' || answer.status === 'unavailable' ? answer : UNAVAILABLE
    this.#gone.set(id, true)
    return MISSING
  }
}

interface PrivateAccessOptions
  extends Pick<ApiClientOptions, 'apiUrl' | 'version' | 'clock' | 'closing' | 'answerMs' | 'retryWithinMs'> {
  /** Origin of the host's pages, without a trailing slash. */
  url: string
  tokens: RepositoryTokens
  warn: Warn
  pauses: GitPauses
}

/** GitHub's API and git, asked about one private repository at a time, with a token for it alone: never with the operator's, and never without one. */
interface PrivateAccess {
  api: Pick<GitHubApi, 'get' | 'maySeePrivate' | 'scopeSeconds'>
  remotes: GitRemotes
}

/** What asks with one token: with a quota and pauses of its own. */
interface TokenClient {
  api: ApiClient
  git: CredentialPauses
}

const CLIENTS = 1_000
const UNREADABLE = { status: 'missing', message: 'no credential reads it' } as const

function createPrivateAccess(options: PrivateAccessOptions): PrivateAccess {
  const { url, tokens, warn, pauses, apiUrl, version, clock, closing, answerMs, retryWithinMs } = options
  /** By the digest of the token. */
  const clients = new LRUCache<string, TokenClient>(entriesAtMost(CLIENTS))

  function clientOf(token: string): TokenClient {
    const key = createHash('sha256').update(token).digest('base64')
    const known = clients.get(key)
    if (known) return known
    const api = new ApiClient({ apiUrl, version, clock, closing, warn, answerMs, retryWithinMs, token })
    const made = { api, git: pauses.ofCredential() }
    clients.set(key, made)
    return made
  }

  /** Asks with the token, and once more with a new one when the host refuses it. `missing` also where it refuses the repository to the App. */
  async function ask(of: AskOptions['of'], question: (client: ApiClient) => Promise<ApiAnswer | Refused>): Promise<ApiAnswer> {
    if (of === undefined) return UNAVAILABLE
    const answer = await askOnce(of)
    if (!isRefusedToken(answer)) return unrefused(answer, warn)
    tokens.forget([of.id])
    return unrefused(await askOnce(of), warn)

    async function askOnce(repository: TokenSubject): Promise<ApiAnswer | Refused> {
      const token = await tokens.token(repository)
      return token.status === 'ok' ? question(clientOf(token.value).api) : withoutToken(token)
    }
  }

  return {
    api: {
      // No answer proves that a private repository is public.
      maySeePrivate: true,
      scopeSeconds: 0,
      get: (path, parameters, asked = {}) => ask(asked.of, client => client.get(questionOf(path, parameters, asked))),
    },
    remotes: {
      async ask(repository, question) {
        const of = subjectOf(repository)
        const remote = `${url}/${of.owner}/${of.name}.git`
        for (let isAgain = false; ; isAgain = true) {
          const token = await tokens.token(of)
          if (token.status !== 'ok') throw token.status === 'missing' ? notFound() : new Paused(token)
          try {
            return (await clientOf(token.value).git.ask(remoteAt(remote, token.value), question)).value
          } catch (error) {
            const failure = readGitFailure(error, false)
            if (failure.status !== 'refused') throw error
            if (failure.of === 'address') {
              warn(...ADDRESS_REFUSED)
              throw error
            }
            if (failure.of !== 'token' || isAgain) throw notFound(error)
            tokens.forget([of.id])
          }
        }
      },
    },
  }
}

function questionOf(url: string, parameters: Question['parameters'], options: AskOptions): Question {
  // The quota is that of the installation, which no stranger can spend.
  return { url, parameters, options: { ...options, subject: 'known' } }
}

function subjectOf({ id, owner, name }: { id?: string; owner: string; name: string }): TokenSubject {
  if (id === undefined) throw new Error('a private repository is asked about without its id')
  return { id, owner, name }
}

function remoteAt(url: string, token: string): Remote {
  return { url, authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` }
}

/** As git answers about a repository that does not exist. */
function notFound(cause?: unknown): RemoteRefusal {
  return Object.assign(new RemoteRefusal(404, 'not found', null), cause === undefined ? {} : { cause })
}

function withoutToken(answer: Exclude<HostAnswer<string>, { status: 'ok' }>): ApiAnswer {
  return answer.status === 'missing' ? UNREADABLE : answer
}

function isRefusedToken(answer: ApiAnswer | Refused): boolean {
  return answer.status === 'refused' && answer.of === 'token'
}

function unrefused(answer: ApiAnswer | Refused, warn: Warn): ApiAnswer {
  if (answer.status !== 'refused') return answer
  const { of } = answer
  if (of === 'address') warn(...ADDRESS_REFUSED)
  return of === 'version' || of === 'address' ? UNAVAILABLE : UNREADABLE
}
