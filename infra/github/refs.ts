import { z } from 'zod'
import { refNames } from '#core/address.ts'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { type HostFailure, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import { subjectsOfRef } from './invalidation-log.ts'
import { type LsRemote, NOW_SECONDS } from './ls-remote.ts'
import type { Subject } from './quota.ts'
import { type Repositories, SHOWN_SECONDS, STALE_SECONDS } from './repositories.ts'
import type { SharedCache } from './shared-cache.ts'

export interface RefsOptions {
  api: Pick<GitHubApi, 'get' | 'maySeePrivate' | 'scopeSeconds'>
  lsRemote: LsRemote
  repositories: Pick<Repositories, 'noteShown'> & {
    /** The repository, as the host shows it now. */
    look(repository: HostRepository): Promise<CachedAnswer<HostRepository> | HostFailure>
  }
  patienceMs: number
  clock: Clock
  /** `null`: this process shares no answers. */
  shared: SharedCache | null
}

/** Resolves branches and tags to commits. */
export interface Refs {
  /** @param ref not a hash; `null`: the default branch */
  resolve(repository: HostRepository, ref: string | null): Promise<CachedAnswer<CommitSha> | HostFailure>
  /** Drops all refs of these repositories. */
  forget(ids: ReadonlySet<string>): void
  /** Expires all refs of the repository. Returns whether this process has resolved `ref`; after a restart, the next visit notices the push. */
  expire(id: string, ref: string): boolean
  /** Has everything asked again. */
  expireAll(): void
}

const KnownRef = z.object({
  commit: z.custom<CommitSha>(value => typeof value === 'string' && isCommitSha(value)),
  /** Name of the ref for the API: `heads/main`, `tags/v1`. */
  name: z.string(),
  /** When a listing last showed that the ref means this name, in milliseconds since 1970. */
  namedAt: z.number(),
})
type KnownRef = z.infer<typeof KnownRef>

const SHARED_REFS = { name: 'ref', schema: KnownRef, subjectsOf: (key: string) => subjectsOfRef(idOf(key)) }

/** A tag counts as a tag for this time. A new branch of the same name, which wins over it, is noticed then. */
const NAMED_SECONDS = 300
/** A listing of names is reused for this time. A missing name is cached as long again, so a new one is found within a minute. */
const NAMES_SECONDS = 30
const MISSING = { status: 'missing' } as const

export function createRefs(options: RefsOptions): Refs {
  return new GitHubRefs(options)
}

class GitHubRefs implements Refs {
  readonly #options: RefsOptions
  /** By repository id and name, or by repository id, `*` and a ref that may be a branch or a tag. */
  readonly #cache: AnswerCache<KnownRef>

  constructor(options: RefsOptions) {
    const { patienceMs, clock, shared } = options
    this.#options = options
    this.#cache = new AnswerCache<KnownRef>({
      patienceMs,
      clock,
      shared: shared?.namespace(SHARED_REFS) ?? null,
      onShared: (key, askedAt) => this.#noteShown({ id: idOf(key) }, askedAt),
    })
  }

  async resolve(repository: HostRepository, ref: string | null): Promise<CachedAnswer<CommitSha> | HostFailure> {
    if (ref === null) return this.#resolveDefault(repository)
    const startedAt = performance.now()
    if (ref !== repository.defaultBranch) return this.#resolveNamed(repository, ref, startedAt)
    const answer = await this.#resolveDefault(repository)
    // Also the name of a tag, once the branch is renamed.
    return answer.status === 'missing' ? this.#resolveNamed(repository, ref, startedAt) : answer
  }

  async #resolveNamed(
    repository: HostRepository,
    ref: string,
    startedAt: number,
  ): Promise<CachedAnswer<CommitSha> | HostFailure> {
    const names = refNames(ref).map(name => name.slice('refs/'.length))
    const [name = '', ...others] = names
    if (name === '') return MISSING
    if (others.length === 0 && name === `heads/${repository.defaultBranch}`) return this.#resolveDefault(repository)
    // Both lookups share the patience of one.
    const patienceMs = Math.max(0, this.#options.patienceMs - (performance.now() - startedAt))
    const key = `${repository.id} ${others.length === 0 ? name : `*/${ref}`}`
    const times = { ...this.#times, patienceMs }
    return commitOf(await this.#cache.get(key, times, known => this.#askListed(repository, names, known)))
  }

  forget(ids: ReadonlySet<string>): void {
    for (const id of ids) this.#options.lsRemote.forget(id)
    this.#cache.dropWhere(key => ids.has(idOf(key)))
  }

  expire(id: string, ref: string): boolean {
    let isOpened = false
    this.#options.lsRemote.forget(id)
    this.#cache.expireWhere((key, answer) => {
      if (!key.startsWith(`${id} `)) return false
      const asked = key.slice(id.length + 1)
      if (answer?.status === 'ok' && refsOf(asked).includes(ref)) isOpened = true
      return true
    })
    return isOpened
  }

  expireAll(): void {
    this.#options.lsRemote.forgetAll()
    this.#cache.expireWhere(() => true)
  }

  /** The default branch is asked of the API without a listing: there is one, which no visitor chooses. */
  async #resolveDefault(repository: HostRepository): Promise<CachedAnswer<CommitSha> | HostFailure> {
    const name = `heads/${repository.defaultBranch}`
    const ask = (known: KnownRef | null) =>
      this.#askName(repository, name, known?.commit ?? null, known === null ? 'shown' : 'known')
    return commitOf(await this.#cache.get(`${repository.id} ${name}`, this.#times, ask))
  }

  /**
   * A branch or tag. Names of nothing are endless: git, which costs no quota, lists the names before the API is asked.
   *
   * @param names of the ref for the API, by precedence: of a branch and of a tag, or one if the visitor gave the full name
   */
  async #askListed(
    repository: HostRepository,
    names: readonly string[],
    known: KnownRef | null,
  ): Promise<CachedAnswer<KnownRef> | HostFailure> {
    if (known !== null && (names.length === 1 || this.#now() - known.namedAt < NAMED_SECONDS * 1000)) {
      const answer = await this.#askName(repository, known.name, known.commit)
      if (answer.status === 'ok') return { status: 'ok', value: { ...answer.value, namedAt: known.namedAt } }
      if (answer.status !== 'missing') return answer
    }
    const askedAt = this.#now()
    const listed = await this.#options.lsRemote.list(repository, NAMES_SECONDS)
    if (listed.status !== 'ok') return this.#askInOrder(repository, names)
    const name = names.find(candidate => listed.value.has(`refs/${candidate}`))
    if (name === undefined) return MISSING
    // The API tells whether the ref leads to a commit. Asked with the listed commit as etag, "not modified" is free of charge.
    const answer = await this.#askName(repository, name, listed.value.get(`refs/${name}`) as CommitSha)
    return answer.status === 'ok' ? { status: 'ok', value: { ...answer.value, namedAt: askedAt } } : answer
  }

  /** Without a listing: the API does not say whether it prefers the branch or the tag of a name, so both are asked for in order. */
  async #askInOrder(repository: HostRepository, names: readonly string[]): Promise<CachedAnswer<KnownRef> | HostFailure> {
    for (const name of names) {
      const answer = await this.#askName(repository, name, null)
      if (answer.status !== 'missing') return answer
    }
    return MISSING
  }

  /**
   * The ref of a name. While the API is rate limited, or the share of refs is spent, git lists branches and tags instead.
   *
   * @param expected where git or the API saw the ref before
   */
  async #askName(
    repository: HostRepository,
    name: string,
    expected: CommitSha | null,
    subject: Subject = 'ref',
  ): Promise<CachedAnswer<KnownRef> | HostFailure> {
    const found = (commit: CommitSha): CachedAnswer<KnownRef> => ({ status: 'ok', value: { commit, name, namedAt: this.#now() } })
    const answer = await this.#askApi(repository, name, expected, subject)
    if (answer.status === 'ok') return found(answer.value)
    if (answer.status !== 'rate_limited') return answer
    const listed = await this.#options.lsRemote.list(repository, NOW_SECONDS)
    if (listed.status !== 'ok') return listed.status === 'missing' ? MISSING : answer
    const oid = listed.value.get(`refs/${name}`) ?? null
    if (oid === null) return MISSING
    // A tag may point at something other than a commit.
    return name.startsWith('heads/') || oid === expected ? found(oid as CommitSha) : answer
  }

  async #askApi(
    repository: HostRepository,
    name: string,
    expected: CommitSha | null,
    subject: Subject,
  ): Promise<CachedAnswer<CommitSha> | HostFailure> {
    const askedAt = this.#now()
    // For this media type, the etag is the commit itself, whatever the credential.
    const etag = expected === null ? {} : { etag: `"${expected}"` }
    const options = { of: repository, accept: 'application/vnd.github.sha', subject, ...etag }
    const parameters = { owner: repository.owner, repo: repository.name, ref: name }
    const answer = await this.#options.api.get('/repos/{owner}/{repo}/commits/{ref}', parameters, options)
    switch (answer.status) {
      case 'ok':
        return this.#found(repository, askedAt, readCommit(answer.data))
      case 'unchanged':
        return this.#found(repository, askedAt, expected)
      case 'no_commit':
        return MISSING
      case 'missing': {
        // The status of a missing repository, not of a missing ref: asks for the repository.
        const found = await this.#options.repositories.look(repository)
        return found.status === 'ok' ? MISSING : found
      }
      case 'rate_limited':
      case 'unavailable':
        return answer
    }
  }

  #found(repository: HostRepository, askedAt: number, commit: CommitSha | null): CachedAnswer<CommitSha> | HostFailure {
    if (commit === null) return UNAVAILABLE
    this.#noteShown(repository, askedAt)
    return { status: 'ok', value: commit }
  }

  /** An answer to a credential that sees only public repositories proves that this one is public. */
  #noteShown(repository: Pick<HostRepository, 'id'>, askedAt: number): void {
    const { api, repositories } = this.#options
    if (!api.maySeePrivate) repositories.noteShown(repository, askedAt - api.scopeSeconds * 1000)
  }

  /** Within `SHOWN_SECONDS` nothing is told of a repository that was hidden, whatever the token sees since. */
  get #times() {
    return { freshSeconds: SHOWN_SECONDS - this.#options.api.scopeSeconds, staleSeconds: STALE_SECONDS }
  }

  #now(): number {
    return this.#options.clock.now().getTime()
  }
}

function commitOf(answer: CachedAnswer<KnownRef> | HostFailure): CachedAnswer<CommitSha> | HostFailure {
  return answer.status === 'ok' ? { status: 'ok', value: answer.value.commit } : answer
}

/** The full names that a key of the cache may stand for. */
function refsOf(asked: string): string[] {
  if (asked.startsWith('*/')) return ['heads', 'tags'].map(folder => `refs/${folder}${asked.slice(1)}`)
  return [`refs/${asked}`]
}

/** The repository's id in a key of the cache. */
function idOf(key: string): string {
  return key.slice(0, key.indexOf(' '))
}

function readCommit(data: unknown): CommitSha | null {
  return typeof data === 'string' && /^[0-9a-f]{40}$/.test(data) ? (data as CommitSha) : null
}
