import { refNames } from '#core/address.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { type Trouble, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import type { Subject } from './quota.ts'
import { type Repositories, SHOWN_SECONDS, STALE_SECONDS } from './repositories.ts'
import { NOW_SECONDS, type Tips } from './tips.ts'

export interface RefsOptions {
  api: Pick<GitHubApi, 'get' | 'maySeePrivate'>
  tips: Tips
  repositories: Repositories
  patienceMs: number
  clock: Clock
}

/** Resolves branches and tags to commits. */
export interface Refs {
  /** @param ref not a hash; `null`: the default branch */
  resolve(repository: HostRepository, ref: string | null): Promise<CachedAnswer<CommitSha> | Trouble>
  /** Drops all refs of these repositories. */
  forget(ids: ReadonlySet<string>): void
  /** Expires all refs of the repository. Returns whether this process has resolved `ref`; after a restart, the next visit notices the push. */
  expire(id: string, ref: string): boolean
}

interface KnownRef {
  commit: CommitSha
  /** Name of the ref for the API: `heads/main`, `tags/v1`. */
  name: string
  /** When a listing last showed that the ref means this name, in milliseconds since 1970. */
  namedAt: number
}

const TIMES = { freshSeconds: SHOWN_SECONDS, staleSeconds: STALE_SECONDS }
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
    const { patienceMs, clock } = options
    this.#options = options
    this.#cache = new AnswerCache<KnownRef>({ patienceMs, clock })
  }

  async resolve(repository: HostRepository, ref: string | null): Promise<CachedAnswer<CommitSha> | Trouble> {
    if (ref !== null && refNames(ref).length === 0) return MISSING
    const startedAt = performance.now()
    const name = nameOf(ref, repository.defaultBranch)
    if (name !== null) {
      const key = `${repository.id} ${name}`
      const answer = commitOf(await this.#cache.get(key, TIMES, known => this.#askName(repository, name, known)))
      if (answer.status !== 'missing' || ref !== repository.defaultBranch) return answer
    }
    const plain = ref as string
    // Both lookups share the patience of one.
    const patienceMs = Math.max(0, this.#options.patienceMs - (performance.now() - startedAt))
    const key = `${repository.id} */${plain}`
    return commitOf(await this.#cache.get(key, { ...TIMES, patienceMs }, known => this.#askPlain(repository, plain, known)))
  }

  forget(ids: ReadonlySet<string>): void {
    for (const id of ids) this.#options.tips.forget(id)
    this.#cache.dropWhere(key => ids.has(key.slice(0, key.indexOf(' '))))
  }

  expire(id: string, ref: string): boolean {
    let isOpened = false
    this.#options.tips.forget(id)
    this.#cache.expireWhere((key, answer) => {
      if (!key.startsWith(`${id} `)) return false
      const asked = key.slice(id.length + 1)
      if (answer?.status === 'ok' && refsOf(asked).includes(ref)) isOpened = true
      return true
    })
    return isOpened
  }

  /** A ref that may be a branch or a tag; a branch wins. */
  async #askPlain(repository: HostRepository, ref: string, known: KnownRef | null): Promise<CachedAnswer<KnownRef> | Trouble> {
    if (known !== null && this.#now() - known.namedAt < NAMED_SECONDS * 1000) {
      const answer = await this.#askName(repository, known.name, known)
      if (answer.status === 'ok') return { status: 'ok', value: { ...answer.value, namedAt: known.namedAt } }
      if (answer.status !== 'missing') return answer
    }
    const askedAt = this.#now()
    const listed = await this.#options.tips.list(repository, NAMES_SECONDS)
    if (listed.status !== 'ok') return this.#askBoth(repository, ref)
    const name = [`heads/${ref}`, `tags/${ref}`].find(candidate => listed.value.has(`refs/${candidate}`))
    if (name === undefined) return MISSING
    // The API tells whether the ref leads to a commit. Asked with the listed commit as etag, "not modified" is free of charge.
    const commit = listed.value.get(`refs/${name}`) as CommitSha
    return this.#askName(repository, name, { commit, name, namedAt: askedAt })
  }

  /** Without a listing: the API does not say whether it prefers the branch or the tag of a name, so both are asked for in order. */
  async #askBoth(repository: HostRepository, ref: string): Promise<CachedAnswer<KnownRef> | Trouble> {
    const branch = await this.#askName(repository, `heads/${ref}`, null)
    return branch.status === 'missing' ? this.#askName(repository, `tags/${ref}`, null) : branch
  }

  /** A full name. While the API is rate limited, git lists branches and tags instead. */
  async #askName(repository: HostRepository, name: string, known: KnownRef | null): Promise<CachedAnswer<KnownRef> | Trouble> {
    const found = (commit: CommitSha): CachedAnswer<KnownRef> => ({ status: 'ok', value: { commit, name, namedAt: this.#now() } })
    const answer = await this.#askApi(repository, name, known?.commit ?? null, known !== null)
    if (answer.status === 'ok') return found(answer.value)
    if (answer.status !== 'rate_limited') return answer
    const listed = await this.#options.tips.list(repository, NOW_SECONDS)
    if (listed.status !== 'ok') return listed.status === 'missing' ? MISSING : answer
    const oid = listed.value.get(`refs/${name}`) ?? null
    if (oid === null) return MISSING
    // A tag may point at something other than a commit.
    return name.startsWith('heads/') || oid === known?.commit ? found(oid as CommitSha) : answer
  }

  async #askApi(
    repository: HostRepository,
    name: string,
    known: CommitSha | null,
    isAgain: boolean,
  ): Promise<CachedAnswer<CommitSha> | Trouble> {
    const askedAt = this.#now()
    // For this media type, the etag is the commit itself, whatever the credential.
    const subject: Subject = isAgain ? 'known' : 'shown'
    const options = { accept: 'application/vnd.github.sha', subject, ...(known === null ? {} : { etag: `"${known}"` }) }
    const parameters = { owner: repository.owner, repo: repository.name, ref: name }
    const answer = await this.#options.api.get('/repos/{owner}/{repo}/commits/{ref}', parameters, options)
    switch (answer.status) {
      case 'ok':
        return this.#found(repository, askedAt, readCommit(answer.data))
      case 'unchanged':
        return this.#found(repository, askedAt, known)
      case 'no_commit':
        return MISSING
      case 'missing': {
        // The status of a missing repository, not of a missing ref: asks for the repository.
        const found = await this.#options.repositories.find(repository.owner, repository.name, 0)
        return found.status === 'ok' ? MISSING : found
      }
      case 'rate_limited':
      case 'unavailable':
        return answer
    }
  }

  #found(repository: HostRepository, askedAt: number, commit: CommitSha | null): CachedAnswer<CommitSha> | Trouble {
    if (commit === null) return UNAVAILABLE
    // An answer to a credential that sees only public repositories proves that this one is public.
    const { api, repositories } = this.#options
    if (!api.maySeePrivate) repositories.noteShown(repository, askedAt)
    return { status: 'ok', value: commit }
  }

  #now(): number {
    return this.#options.clock.now().getTime()
  }
}

function commitOf(answer: CachedAnswer<KnownRef> | Trouble): CachedAnswer<CommitSha> | Trouble {
  return answer.status === 'ok' ? { status: 'ok', value: answer.value.commit } : answer
}

/** Name of the ref for the API; `null` when the ref may be a branch or a tag. */
function nameOf(ref: string | null, defaultBranch: string): string | null {
  if (ref === null || ref === defaultBranch) return `heads/${defaultBranch}`
  const [name, ...others] = refNames(ref)
  return name === undefined || others.length > 0 ? null : name.slice('refs/'.length)
}

/** The full names that a key of the cache may stand for. */
function refsOf(asked: string): string[] {
  if (asked.startsWith('*/')) return ['heads', 'tags'].map(folder => `refs/${folder}${asked.slice(1)}`)
  return [`refs/${asked}`]
}

function readCommit(data: unknown): CommitSha | null {
  return typeof data === 'string' && /^[0-9a-f]{40}$/.test(data) ? (data as CommitSha) : null
}
