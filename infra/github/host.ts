import { setMaxListeners } from 'node:events'
import { LRUCache } from 'lru-cache'
import { HOST_NAMES, isCommitSha, isRefName } from '#core/address.ts'
import {
  type BlobSelection,
  type GitHost,
  type HostAnswer,
  type HostHook,
  type HostRepository,
  type HostUrls,
  ReadError,
  type ReadLimits,
  type RepositoryReader,
} from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { encodePath } from '#core/repo-path.ts'
import type { CommitSha } from '#core/snapshot/format.ts'
import type { Remote } from '#infra/git/fetch.ts'
import type { ToldSizes } from '#infra/git/remote-blobs.ts'
import { openRemoteReader } from '#infra/git/remote-reader.ts'
import { createScratchPool } from '#infra/git/scratch-pool.ts'
import { removeLeftoverViews } from '#infra/git/view.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import { AnswerCache, type KeepingTimes, type Kept } from './answer-cache.ts'
import { type Trouble, UNAVAILABLE } from './answers.ts'
import { createGitHubApi, type GitHubApi } from './api.ts'
import { openArchiveReader } from './archive-reader.ts'
import { type Belonging, createBelonging } from './belonging.ts'
import { readRepository, readSizes } from './described.ts'
import { createWebhook, type NamedRepository } from './webhook.ts'

export interface GitHubHostOptions {
  /** Where people look: `https://github.com`, without a slash at its end. */
  url: string
  /** `https://api.github.com`, or `https://<host>/api/v3` of an Enterprise Server. */
  apiUrl: string
  /** For what everyone may see; without one the host answers 60 questions an hour. */
  token: string | null
  /** `null`: no messages of GitHub are taken. */
  webhookSecret: string | null
  clock: Clock
  /** Whether there is a git program. Without it files come from archives, and a pinned commit only counts on the default branch. */
  hasGit: boolean
  /** Told of what an operator has to change. */
  onWarning: (message: string) => void
}

interface KnownRepository {
  repository: HostRepository
  etag: string | null
}

const STALE_SECONDS = 600
const REPOSITORY_SECONDS = 300
/** Within so long, what the host stops to show is shown no more. */
const SHOWN_SECONDS = 60
const REF: KeepingTimes = { freshSeconds: SHOWN_SECONDS, staleSeconds: STALE_SECONDS }
const FOR_EVER: KeepingTimes = { freshSeconds: Number.POSITIVE_INFINITY, staleSeconds: Number.POSITIVE_INFINITY }

const HELD_REPOSITORIES = 10_000
const HELD_COMMITS = 20_000
/** A visitor waits for two answers, and six seconds at most. */
const PATIENCE_MS = 2_800
const SIZES_MS = 20_000
const SIZES_BYTES = 32 * 1024 * 1024

const MISSING = { status: 'missing' } as const
const GONE = { status: 'gone' } as const

export async function openGitHubHost(options: GitHubHostOptions): Promise<GitHost> {
  await removeLeftoverViews(options.clock.now())
  return new GitHubHost(options)
}

class GitHubHost implements GitHost {
  readonly segment = 'gh'
  readonly isRemote = true
  readonly urls: HostUrls
  readonly accounts: Accounts
  readonly hook?: HostHook
  readonly #options: GitHubHostOptions
  readonly #api: GitHubApi
  readonly #belonging: Belonging
  /** By name in lower case. */
  readonly #repositories: AnswerCache<KnownRepository>
  /** By id and ref. */
  readonly #refs: AnswerCache<CommitSha>
  /** By id and hash: a commit that belongs to a repository does so for ever. */
  readonly #pins: AnswerCache<CommitSha>
  /** When the host last showed a repository to everyone, by id, in milliseconds since 1970. */
  readonly #shownAt = new LRUCache<string, number>({ max: HELD_REPOSITORIES })
  /** What the host was seen to withhold from everyone, by name in lower case: its listings go on naming it. */
  readonly #blocked = new LRUCache<string, true>({ max: HELD_REPOSITORIES })
  /** When the host last told of a change, likewise. */
  readonly #changedAt = new LRUCache<string, number>({ max: HELD_REPOSITORIES })
  readonly #pool = createScratchPool()
  readonly #closing = new AbortController()
  readonly #readers = new Set<RepositoryReader>()

  constructor(options: GitHubHostOptions) {
    const { url, clock } = options
    this.#options = options
    this.#api = createGitHubApi({ ...options, closing: this.#closing.signal })
    const remoteOf = (repository: HostRepository) => this.#remoteOf(repository)
    this.#belonging = createBelonging({ api: this.#api, remoteOf, closing: this.#closing.signal })
    this.#repositories = new AnswerCache(HELD_REPOSITORIES, PATIENCE_MS, clock)
    this.#refs = new AnswerCache(HELD_COMMITS, PATIENCE_MS, clock)
    this.#pins = new AnswerCache(HELD_COMMITS, PATIENCE_MS, clock)
    this.urls = { raw: ({ owner, name }, commit, path) => `${url}/${owner}/${name}/raw/${commit}/${encodePath(path)}` }
    this.accounts = createAccounts({
      api: this.#api,
      url,
      clock,
      patienceMs: PATIENCE_MS,
      shown: (owner, name) => this.#repository(owner, name, SHOWN_SECONDS),
      isBlocked: (owner, name) => this.#blocked.has(keyOf(owner, name)),
    })
    if (options.webhookSecret !== null) {
      this.hook = createWebhook({
        secret: options.webhookSecret,
        onChanged: named => this.#forget(named),
        onPushed: (id, ref) => this.#expireRefs(id, ref),
      })
    }
    setMaxListeners(0, this.#closing.signal)
  }

  repository(owner: string, name: string): Promise<HostAnswer<HostRepository>> {
    // With a credential that sees more than everyone, no other answer shows that a repository is still public.
    return this.#repository(owner, name, this.#api.maySeePrivate ? SHOWN_SECONDS : REPOSITORY_SECONDS)
  }

  async #repository(owner: string, name: string, freshSeconds: number): Promise<HostAnswer<HostRepository>> {
    if (!HOST_NAMES.gh.owner.test(owner) || !HOST_NAMES.gh.repository.test(name)) return MISSING
    const answer = await this.#ask(owner, name, freshSeconds)
    return answer.status === 'ok' ? { status: 'ok', value: { ...answer.value.repository } } : answer
  }

  async resolve(repository: HostRepository, ref: string | null): Promise<HostAnswer<CommitSha> | { status: 'gone' }> {
    if (ref !== null && isCommitSha(ref)) return this.#resolvePinned(repository, ref.toLowerCase() as CommitSha)
    if (ref !== null && !isRefName(ref)) return MISSING
    const names = namesOf(ref === null || ref === 'HEAD' ? `refs/heads/${repository.defaultBranch}` : ref)
    const key = `${repository.id}:${names.join(' ')}`
    const answer = await this.#refs.get(key, REF, known => this.#askRef(repository, names, known))
    if (answer.status !== 'missing' || !this.#isGone(repository)) return answer
    this.#refs.drop(key)
    return GONE
  }

  async open(
    repository: HostRepository,
    commit: CommitSha,
    limits: ReadLimits,
    selection?: BlobSelection,
  ): Promise<RepositoryReader> {
    if (!isCommitSha(commit)) throw new ReadError('index.fetch_failed', 'this is no commit')
    try {
      return await this.#open(repository, commit, limits, selection)
    } catch (error) {
      // It may have been renamed since it was looked up, and git is not let follow the host to where it likes.
      const mayHaveMoved = error instanceof ReadError && error.code === 'index.fetch_failed'
      const moved = mayHaveMoved ? await this.#movedTo(repository) : null
      if (moved === null) throw error
      return this.#open(moved, commit, limits, selection)
    }
  }

  async #open(
    repository: HostRepository,
    commit: CommitSha,
    limits: ReadLimits,
    selection: BlobSelection | undefined,
  ): Promise<RepositoryReader> {
    let reader: RepositoryReader | null = null
    const opening = {
      commit,
      limits,
      selection,
      signal: this.#closing.signal,
      onClosed: () => {
        if (reader) this.#readers.delete(reader)
      },
    }
    reader = this.#options.hasGit
      ? await openRemoteReader({
          ...opening,
          remote: this.#remoteOf(repository),
          tellSizes: (tree, signal) => this.#tellSizes(repository, tree, signal),
          pool: this.#pool,
          key: repository.id,
        })
      : await openArchiveReader({ ...opening, repository, api: this.#api, isArchiveUrl: url => this.#isArchiveUrl(url) })
    this.#readers.add(reader)
    return reader
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#readers].map(reader => reader.close()))
    await this.#pool.close()
  }

  #ask(owner: string, name: string, freshSeconds: number): Promise<Kept<KnownRepository> | Trouble> {
    const times = { freshSeconds, staleSeconds: STALE_SECONDS }
    return this.#repositories.get(keyOf(owner, name), times, known => this.#askRepository(owner, name, known))
  }

  async #askRepository(owner: string, name: string, known: KnownRepository | null): Promise<Kept<KnownRepository> | Trouble> {
    const askedAt = this.#now()
    const answer = await this.#api.get('/repos/{owner}/{repo}', { owner, repo: name }, known?.etag ? { etag: known.etag } : {})
    switch (answer.status) {
      case 'ok': {
        const repository = readRepository(answer.data)
        if (repository === null) return UNAVAILABLE
        if (repository === 'hidden') return MISSING
        this.#noteShown(repository, askedAt)
        this.#blocked.delete(keyOf(owner, name))
        return { status: 'ok', value: { repository, etag: answer.etag } }
      }
      case 'unchanged':
        if (known === null) return UNAVAILABLE
        this.#noteShown(known.repository, askedAt)
        return { status: 'ok', value: known }
      case 'missing':
        if (/access blocked/i.test(answer.message)) this.#blocked.set(keyOf(owner, name), true)
        return MISSING
      case 'no_commit':
        return UNAVAILABLE
      default:
        return answer
    }
  }

  /** The commit behind the first of the names that exists. */
  async #askRef(
    repository: HostRepository,
    names: readonly string[],
    known: CommitSha | null,
  ): Promise<Kept<CommitSha> | Trouble> {
    const { owner, name } = repository
    const askedAt = this.#now()
    for (const ref of names) {
      // For this media type the tag of the answer is the commit itself, whoever asks.
      const options = { accept: 'application/vnd.github.sha', ...(known === null ? {} : { etag: `"${known}"` }) }
      const answer = await this.#api.get('/repos/{owner}/{repo}/commits/{ref}', { owner, repo: name, ref }, options)
      const commit = answer.status === 'unchanged' ? known : answer.status === 'ok' ? readCommit(answer.data) : null
      switch (answer.status) {
        case 'ok':
        case 'unchanged':
          if (commit === null) return UNAVAILABLE
          if (!this.#api.maySeePrivate) this.#noteShown(repository, askedAt)
          return { status: 'ok', value: commit }
        case 'no_commit':
          continue
        case 'missing': {
          const again = await this.#ask(owner, name, 0)
          if (again.status !== 'ok') return again
          continue
        }
        default:
          return answer
      }
    }
    return MISSING
  }

  async #resolvePinned(repository: HostRepository, commit: CommitSha): Promise<HostAnswer<CommitSha> | { status: 'gone' }> {
    const { id, owner, name } = repository
    const answer = await this.#pins.get(`${id}:${commit}`, FOR_EVER, () => this.#belonging(repository, commit))
    if (answer.status !== 'ok') return answer
    // No other question about a pinned commit would show that the repository is still there.
    if (this.#now() - (this.#shownAt.get(id) ?? 0) < SHOWN_SECONDS * 1000) return answer
    const shown = await this.#ask(owner, name, SHOWN_SECONDS)
    if (shown.status === 'ok' || shown.status === 'missing') return this.#isGone(repository) ? GONE : answer
    return shown
  }

  /** Unless the host has told of a change since it was asked. */
  #noteShown({ id }: HostRepository, askedAt: number): void {
    if (askedAt > (this.#changedAt.get(id) ?? 0)) this.#shownAt.set(id, askedAt)
  }

  /** The repository may have another name, or be hidden, from now on. */
  #forget({ id, fullName }: NamedRepository): void {
    this.#changedAt.set(id, this.#now())
    this.#shownAt.delete(id)
    this.#repositories.drop(fullName.toLowerCase())
    this.#repositories.dropWhere((_, answer) => answer?.status === 'ok' && answer.value.repository.id === id)
    this.#refs.dropWhere(key => key.startsWith(`${id}:`))
    this.accounts.forgetListing(fullName.slice(0, fullName.indexOf('/')))
  }

  /** @returns whether the ref was opened lately. After a start nothing was, which costs the next visitor a minute. */
  #expireRefs(id: string, ref: string): boolean {
    let isOpened = false
    this.#refs.expireWhere((key, answer) => {
      const [keyId, ...names] = key.split(/[: ]/)
      if (keyId !== id) return false
      if (answer?.status === 'ok' && names.some(name => `refs/${name}` === ref || name === ref)) isOpened = true
      return true
    })
    return isOpened
  }

  /** Under its new name; `null` when it has none that everyone sees. */
  async #movedTo({ id, owner, name }: HostRepository): Promise<HostRepository | null> {
    const answer = await this.#api.get('/repositories/{id}', { id: id.slice('gh-'.length) })
    const found = answer.status === 'ok' ? readRepository(answer.data) : null
    if (found === null || found === 'hidden' || found.id !== id) return null
    return keyOf(found.owner, found.name) === keyOf(owner, name) ? null : found
  }

  #isGone({ id, owner, name }: HostRepository): boolean {
    const known = this.#repositories.known(keyOf(owner, name))
    return known !== null && (known.status === 'missing' || known.value.repository.id !== id)
  }

  async #tellSizes({ owner, name }: HostRepository, tree: string, signal: AbortSignal): Promise<ToldSizes | null> {
    const answer = await this.#api.get(
      '/repos/{owner}/{repo}/git/trees/{tree_sha}',
      { owner, repo: name, tree_sha: tree, recursive: 1 },
      { signal, milliseconds: SIZES_MS, maxBytes: SIZES_BYTES },
    )
    return answer.status === 'ok' ? readSizes(answer.data) : null
  }

  /** The host itself, or the one beside it that github.com keeps for archives. */
  #isArchiveUrl({ protocol, hostname }: URL): boolean {
    const own = new URL(this.#options.url)
    return protocol === own.protocol && (hostname === own.hostname || hostname === `codeload.${own.hostname}`)
  }

  /** The names were checked; nothing else of the address comes from outside. */
  #remoteOf({ owner, name }: HostRepository): Remote {
    const { url, token } = this.#options
    const authorization = token === null ? null : `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
    return { url: `${url}/${owner}/${name}.git`, authorization }
  }

  #now(): number {
    return this.#options.clock.now().getTime()
  }
}

function keyOf(owner: string, name: string): string {
  return `${owner}/${name}`.toLowerCase()
}

/** What the API is asked for, one after another: it does not say which it prefers of a branch and a tag of one name. */
function namesOf(ref: string): string[] {
  const known = /^refs\/((?:heads|tags)\/.+)$/.exec(ref)?.[1]
  if (known !== undefined) return [known]
  return ref.startsWith('refs/') ? [ref] : [`heads/${ref}`, `tags/${ref}`]
}

function readCommit(data: unknown): CommitSha | null {
  return typeof data === 'string' && /^[0-9a-f]{40}$/.test(data) ? (data as CommitSha) : null
}
