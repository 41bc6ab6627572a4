import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { Repository } from '#core/contract/mount.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { type ApiAnswer, type GitFailure, type HostFailure, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import type { BlockedRepositories } from './blocked.ts'
import { subjectsOfRepository } from './invalidation-log.ts'
import { type LsRemote, NOW_SECONDS } from './ls-remote.ts'
import { mapPublicRepository } from './map-repository.ts'
import type { Subject } from './quota.ts'
import type { SharedCache } from './shared-cache.ts'
import type { NamedRepository } from './webhook.ts'

export interface RepositoriesOptions {
  api: Pick<GitHubApi, 'get' | 'maySeePrivate' | 'refusal' | 'scopeSeconds'>
  lsRemote: Pick<LsRemote, 'list' | 'look'>
  blocked: Pick<BlockedRepositories, 'note' | 'forget'>
  /** An Enterprise Server where "public" means signed-in users: an anonymous request may see nothing. */
  requiresSignIn: boolean
  patienceMs: number
  clock: Clock
  /** `null`: this process shares no answers. */
  shared: SharedCache | null
}

/** Repositories by name, as the host describes them. */
export interface Repositories {
  /** The repository, as described at most `freshSeconds` ago. */
  find(owner: string, name: string, freshSeconds: number): Promise<CachedAnswer<HostRepository> | HostFailure>
  /** The repository, as the host shows it now. */
  look(repository: HostRepository): Promise<CachedAnswer<HostRepository> | HostFailure>
  /** Notes that another answer proved the repository public. @param askedAt when that question was asked, in milliseconds since 1970 */
  noteShown(repository: Pick<HostRepository, 'id'>, askedAt: number): void
  /** Notes that a person sees the repository as public: that it is missing is forgotten, since it was opened a moment ago. */
  noteOpened(repository: HostRepository): void
  /** Whether the host showed within the last minute that the repository is public. */
  wasShownLately(repository: HostRepository): boolean
  /** Whether the last answer for its name was "missing" or another repository. */
  isGone(repository: HostRepository): boolean
  /** Drops everything known of these repositories: they may have been renamed or hidden. */
  forget(named: readonly NamedRepository[]): void
  /** Drops everything known of the repositories of these accounts. Returns their ids. @param logins in lower case */
  forgetAccounts(logins: ReadonlySet<string>): ReadonlySet<string>
  /** Has everything asked again. */
  expireAll(): void
}

/** A repository that the host hides is hidden here within this time. */
export const SHOWN_SECONDS = 60
/** While the host cannot be asked, its last answer is used for this time. */
export const STALE_SECONDS = 600

/** Description and default branch are asked for again after this time. */
export const DESCRIBED_SECONDS = 300
/** Instants of some ten thousand repositories. */
const INSTANTS = { maxSize: 2 * 1024 * 1024, sizeCalculation: memoryOfEntry }
const MISSING = { status: 'missing' } as const
const UNKNOWN = { status: 'unknown' } as const
/** Too many names are being looked at. */
const BUSY: HostFailure = { status: 'unavailable', retryAfterSeconds: 1 }

interface KnownRepository {
  repository: HostRepository
  etag: string | null
  /** When the API described it, in milliseconds since 1970. */
  describedAt: number
}

/** As other processes share it: only of a public repository. */
const KnownRepository: z.ZodType<KnownRepository> = z.object({
  repository: Repository.extend({ id: z.string(), ownerId: z.string(), visibility: z.literal('public') }).readonly(),
  etag: z.string().nullable(),
  describedAt: z.number(),
})

const SHARED_REPOSITORIES = {
  name: 'repository',
  schema: KnownRepository,
  subjectsOf: (key: string, known: KnownRepository | null) => subjectsOfRepository(key, known?.repository.id ?? null),
}

type Looked = { status: 'ok' | 'unknown' | 'busy' } | GitFailure

export function createRepositories(options: RepositoriesOptions): Repositories {
  return new GitHubRepositories(options)
}

class GitHubRepositories implements Repositories {
  readonly #options: RepositoriesOptions
  readonly #cache: AnswerCache<KnownRepository>
  /** When the host last showed the repository as public, by id, in milliseconds since 1970. */
  readonly #shownAt = new LRUCache<string, number>(INSTANTS)
  /** When the host last announced a change, by id, in milliseconds since 1970. */
  readonly #changedAt = new LRUCache<string, number>(INSTANTS)

  constructor(options: RepositoriesOptions) {
    const { patienceMs, clock, shared } = options
    this.#options = options
    this.#cache = new AnswerCache<KnownRepository>({
      patienceMs,
      clock,
      shared: shared?.namespace(SHARED_REPOSITORIES) ?? null,
    })
  }

  async find(owner: string, name: string, freshSeconds: number): Promise<CachedAnswer<HostRepository> | HostFailure> {
    const times = { freshSeconds, staleSeconds: STALE_SECONDS }
    return repositoryOf(await this.#cache.get(keyOf(owner, name), times, known => this.#ask(owner, name, known)))
  }

  look({ owner, name }: HostRepository): Promise<CachedAnswer<HostRepository> | HostFailure> {
    return this.find(owner, name, 0)
  }

  noteShown({ id }: Pick<HostRepository, 'id'>, askedAt: number): void {
    // Unless the host announced a change after the question.
    if (askedAt > (this.#changedAt.get(id) ?? 0)) this.#shownAt.set(id, askedAt)
  }

  noteOpened({ owner, name }: HostRepository): void {
    const key = keyOf(owner, name)
    if (this.#cache.known(key)?.status === 'missing') this.#cache.drop(key)
  }

  wasShownLately({ id }: HostRepository): boolean {
    return this.#now() - (this.#shownAt.get(id) ?? 0) < SHOWN_SECONDS * 1000
  }

  isGone({ id, owner, name }: HostRepository): boolean {
    const known = this.#cache.known(keyOf(owner, name))
    return known !== null && (known.status === 'missing' || known.value.repository.id !== id)
  }

  forget(named: readonly NamedRepository[]): void {
    const ids = new Set(named.map(({ id }) => id))
    const names = new Set(named.map(({ fullName }) => fullName.toLowerCase()))
    this.#options.blocked.forget(names)
    for (const id of ids) {
      this.#changedAt.set(id, this.#now())
      this.#shownAt.delete(id)
    }
    this.#cache.dropWhere((key, answer) => names.has(key) || (answer?.status === 'ok' && ids.has(answer.value.repository.id)))
  }

  forgetAccounts(logins: ReadonlySet<string>): ReadonlySet<string> {
    const named = this.#cache
      .values()
      .map(({ repository: { id, owner, name } }) => ({ id, fullName: `${owner}/${name}` }))
      .filter(({ fullName }) => logins.has(accountOf(fullName.toLowerCase())))
    this.forget(named)
    // What was missing may be there now, and what is being asked may be outdated.
    this.#cache.dropWhere(key => logins.has(accountOf(key)))
    return new Set(named.map(({ id }) => id))
  }

  expireAll(): void {
    this.#shownAt.clear()
    this.#cache.expireWhere(() => true)
  }

  async #ask(owner: string, name: string, known: KnownRepository | null): Promise<CachedAnswer<KnownRepository> | HostFailure> {
    const askedAt = this.#now()
    const refusal = known === null ? this.#options.api.refusal('shown') : null
    if (refusal !== null) return refusal
    const looked = await this.#look(owner, name, known !== null)
    if (looked.status === 'missing') return MISSING
    if (looked.status === 'busy') return BUSY
    // A repository that was public minutes ago may be asked for all the same: the answer betrays nothing.
    const isRefused = looked.status === 'rate_limited' || looked.status === 'unavailable'
    if (isRefused && known === null && this.#options.api.maySeePrivate) return looked
    if (looked.status === 'ok' && known !== null) {
      this.noteShown(known.repository, askedAt)
      if (askedAt - known.describedAt < DESCRIBED_SECONDS * 1000) return { status: 'ok', value: known }
    }
    return this.#describe(owner, name, known, looked, askedAt)
  }

  async #describe(
    owner: string,
    name: string,
    known: KnownRepository | null,
    looked: Looked,
    askedAt: number,
  ): Promise<CachedAnswer<KnownRepository> | HostFailure> {
    const etag = known?.etag ? { etag: known.etag } : {}
    const isShown = looked.status === 'ok' || looked.status === 'moved'
    const subject: Subject = known !== null ? 'known' : isShown ? 'shown' : 'name'
    const options = { subject, ...etag }
    const answer = await this.#options.api.get('/repos/{owner}/{repo}', { owner, repo: name }, options)
    switch (answer.status) {
      case 'ok':
        return this.#described(owner, name, answer, askedAt)
      case 'unchanged':
        return known === null ? UNAVAILABLE : this.#shown({ ...known, describedAt: askedAt }, askedAt)
      case 'missing':
        if (/access blocked/i.test(answer.message)) this.#options.blocked.note({ owner, name }, true)
        return MISSING
      case 'rate_limited':
        return known === null ? answer : this.#withoutApi(known, looked, askedAt, answer)
      case 'no_commit':
        return UNAVAILABLE
      case 'unavailable':
        return answer
    }
  }

  #described(
    owner: string,
    name: string,
    { data, etag }: Extract<ApiAnswer, { status: 'ok' }>,
    askedAt: number,
  ): CachedAnswer<KnownRepository> | HostFailure {
    const repository = mapPublicRepository(data)
    if (repository === null) return UNAVAILABLE
    if (repository === 'hidden') return MISSING
    this.#options.blocked.note({ owner, name }, false)
    return this.#shown({ repository, etag, describedAt: askedAt }, askedAt)
  }

  /** While the API is rate limited, the description is reused. Whether the repository is still public is asked of git. */
  async #withoutApi(
    known: KnownRepository,
    looked: Looked,
    askedAt: number,
    failure: HostFailure,
  ): Promise<CachedAnswer<KnownRepository> | HostFailure> {
    const { api, lsRemote, requiresSignIn } = this.#options
    const mayBeOutdated = api.scopeSeconds > 0
    // What the token may see is known from an earlier listing only, which does not prove that the repository is public now. A host that
    // requires sign-in has no anonymous answer to ask for.
    if (mayBeOutdated && requiresSignIn && !api.maySeePrivate) return failure
    const shown = api.maySeePrivate
      ? looked
      : await (mayBeOutdated ? lsRemote.look(known.repository, true, true) : lsRemote.list(known.repository, NOW_SECONDS))
    if (shown.status === 'missing') return MISSING
    return shown.status === 'ok' ? this.#shown(known, askedAt) : failure
  }

  #shown(known: KnownRepository, askedAt: number): CachedAnswer<KnownRepository> {
    this.noteShown(known.repository, askedAt)
    return { status: 'ok', value: known }
  }

  /**
   * Names of nothing are endless: git, which costs no quota, is asked about a new name before the API. With a credential that sees private
   * repositories, git looks without it, and at every name. So not even the time of an answer betrays that a private repository exists; and no
   * other answer would prove that a repository is still public. A refusal of git says nothing about the repository.
   */
  async #look(owner: string, name: string, isKnown: boolean): Promise<Looked> {
    const { api, lsRemote, requiresSignIn } = this.#options
    if ((isKnown && !api.maySeePrivate) || requiresSignIn) return UNKNOWN
    const answer = await lsRemote.look({ owner, name }, isKnown, api.maySeePrivate)
    if (answer.status === 'missing' && answer.isBlocked) this.#options.blocked.note({ owner, name }, true)
    return answer
  }

  #now(): number {
    return this.#options.clock.now().getTime()
  }
}

function accountOf(fullName: string): string {
  return fullName.slice(0, fullName.indexOf('/'))
}

/** Names of GitHub ignore case. */
function keyOf(owner: string, name: string): string {
  return `${owner}/${name}`.toLowerCase()
}

function repositoryOf(answer: CachedAnswer<KnownRepository> | HostFailure): CachedAnswer<HostRepository> | HostFailure {
  return answer.status === 'ok' ? { status: 'ok', value: answer.value.repository } : answer
}
