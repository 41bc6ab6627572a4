import { LRUCache } from 'lru-cache'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { entriesAtMost } from '#core/memory.ts'
import type {
  BlobSelection,
  HostAnswer,
  HostRefs,
  HostRepository,
  PathHistory,
  ReadLimits,
  RepositoryReader,
} from '#core/ports/git-host.ts'
import type { CachedAnswer } from './answer-cache.ts'
import { type HostFailure, UNAVAILABLE } from './answers.ts'
import { type CommitMembership, createCommitMembership } from './commit-membership.ts'
import { createLsRemote, type LsRemote } from './ls-remote.ts'
import { mapRepository } from './map-repository.ts'
import { createReaders, type Readers } from './open-reader.ts'
import { createPathHistories, type PathHistories } from './path-history.ts'
import { createPrivateAccess, type PrivateAccess, type PrivateAccessOptions } from './private-access.ts'
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
  history(repository: HostRepository, commit: CommitSha, paths: readonly string[]): Promise<HostAnswer<PathHistory>>
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
  readonly #histories: PathHistories
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
    this.#histories = createPathHistories(common)
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

  history(repository: HostRepository, commit: CommitSha, paths: readonly string[]): Promise<HostAnswer<PathHistory>> {
    return this.#histories.read(repository, commit, paths)
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
