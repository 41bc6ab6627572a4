import { z } from 'zod'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import { GateFull } from '#core/concurrency/fair-gate.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { type CommitGraphCache, createCommitGraphCache } from '../git/commit-graph-cache.ts'
import { type TipSet, tipSetOf } from '../git/history.ts'
import { UnreachableCommits } from '../git/unreachable-commits.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { type ApiAnswer, type HostFailure, readGitFailure, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import type { GitRemotes } from './git-remotes.ts'
import { subjectsOfCommit } from './invalidation-log.ts'
import { type LsRemote, NOW_SECONDS, type TipList } from './ls-remote.ts'
import { isBehind } from './map-repository.ts'
import type { SharedCache } from './shared-cache.ts'

export interface CommitMembershipOptions {
  api: Pick<GitHubApi, 'get'>
  lsRemote: Pick<LsRemote, 'list'>
  remotes: GitRemotes
  patienceMs: number
  clock: Clock
  /** `null`: this process shares no answers. */
  shared: SharedCache | null
  /** Aborts everything under way. */
  closing: AbortSignal
}

/** Resolves commits that are given by their full hash. */
export interface CommitMembership {
  /** The commit, if a branch or tag of the repository leads to it. A proof is cached forever. */
  resolve(repository: HostRepository, commit: CommitSha): Promise<CachedAnswer<CommitSha> | HostFailure>
  /** Waits for running proofs, which `closing` aborts. */
  close(): Promise<void>
}

const SHARED_MEMBERSHIP = {
  name: 'pin',
  schema: z.custom<CommitSha>(value => typeof value === 'string' && isCommitSha(value)),
  subjectsOf: (key: string) => subjectsOfCommit(key.slice(0, key.indexOf(' '))),
}
const FOREVER = { freshSeconds: Number.POSITIVE_INFINITY, staleSeconds: Number.POSITIVE_INFINITY }
/** However many unknown hashes are tried, branches and tags are listed once in this time. */
const UNKNOWN_SECONDS = 30
/** Too many proofs wait. */
const BUSY: HostFailure = { status: 'unavailable', retryAfterSeconds: 10 }

export function createCommitMembership(options: CommitMembershipOptions): CommitMembership {
  return new GitHubCommitMembership(options)
}

/**
 * Under the name of a repository, the host also gives out the commits of all its forks. So a hash needs a proof that the commit belongs
 * to the repository. In this order: a comparison with the default branch, which most commits are on; a branch or tag that points at it;
 * the history of all branches and tags, which is cached for a while. Only the first uses the API's quota, and the others work without it.
 */
class GitHubCommitMembership implements CommitMembership {
  readonly #options: CommitMembershipOptions
  /** By repository id and hash. */
  readonly #cache: AnswerCache<CommitSha>
  readonly #commitGraphs: CommitGraphCache
  readonly #unreachable = new UnreachableCommits()
  readonly #tipSets = new WeakMap<TipList, TipSet>()

  constructor(options: CommitMembershipOptions) {
    const { patienceMs, clock, shared, closing } = options
    this.#options = options
    this.#cache = new AnswerCache<CommitSha>({ patienceMs, clock, shared: shared?.namespace(SHARED_MEMBERSHIP) ?? null })
    this.#commitGraphs = createCommitGraphCache({ clock, closing })
  }

  async resolve(repository: HostRepository, commit: CommitSha): Promise<CachedAnswer<CommitSha> | HostFailure> {
    return await this.#cache.get(keyOf(repository, commit), FOREVER, () => this.#prove(repository, commit))
  }

  close(): Promise<void> {
    return this.#commitGraphs.close()
  }

  async #prove(repository: HostRepository, commit: CommitSha): Promise<CachedAnswer<CommitSha> | HostFailure> {
    return (await this.#isStillUnreachable(repository, commit)) ? { status: 'missing' } : this.#ask(repository, commit)
  }

  async #isStillUnreachable(repository: HostRepository, commit: CommitSha): Promise<boolean> {
    const fingerprint = this.#unreachable.fingerprintOf(repository.id, commit)
    if (fingerprint === null) return false
    const listed = await this.#options.lsRemote.list(repository, UNKNOWN_SECONDS)
    return listed.status === 'ok' && this.#tipSetOf(listed.value).fingerprint === fingerprint
  }

  async #ask(repository: HostRepository, commit: CommitSha): Promise<CachedAnswer<CommitSha> | HostFailure> {
    const compared = await this.#compare(repository, commit)
    if (compared.status === 'ok' && isBehind(compared.data, commit)) return { status: 'ok', value: commit }
    const existence = existenceOf(compared)
    // An existing commit may have been pushed just now. For other hashes, which are endless, an older listing will do.
    const listed = await this.#options.lsRemote.list(repository, existence === 'commit' ? NOW_SECONDS : UNKNOWN_SECONDS)
    if (listed.status !== 'ok') return listed
    const refs = [...listed.value].filter(([, oid]) => oid === commit).map(([ref]) => ref)
    // A branch points at a commit; a tag may point at any object.
    if (refs.some(ref => ref.startsWith('refs/heads/')) || (refs.length > 0 && existence === 'commit'))
      return { status: 'ok', value: commit }
    const tips = this.#tipSetOf(listed.value)
    if (existence === 'nothing' && refs.length === 0) return this.#noteUnreachable(repository, commit, tips)
    return this.#searchHistory(repository, commit, tips, refs.length > 0)
  }

  #compare(repository: HostRepository, commit: CommitSha): Promise<ApiAnswer> {
    const { owner, name, defaultBranch } = repository
    const parameters = { owner, repo: name, basehead: `${defaultBranch}...${commit}`, per_page: 1 }
    return this.#options.api.get('/repos/{owner}/{repo}/compare/{basehead}', parameters, { of: repository, subject: 'hash' })
  }

  /** @param isTagged whether a tag points at the object */
  async #searchHistory(
    repository: HostRepository,
    commit: CommitSha,
    tips: TipSet,
    isTagged: boolean,
  ): Promise<CachedAnswer<CommitSha> | HostFailure> {
    try {
      const isProven = await this.#options.remotes.ask(repository, remote => {
        const source = { id: repository.id, remote }
        // A tag points here; only the object's type is left to check.
        return isTagged ? this.#commitGraphs.isCommit(source, commit) : this.#commitGraphs.leadTo(source, tips, commit)
      })
      if (isProven) return { status: 'ok', value: commit }
      return this.#noteUnreachable(repository, commit, tips)
    } catch (error) {
      if (error instanceof GateFull) return BUSY
      const failure = readGitFailure(error, true)
      return failure.status === 'rate_limited' || failure.status === 'unavailable' ? failure : UNAVAILABLE
    }
  }

  #noteUnreachable({ id }: HostRepository, commit: CommitSha, tips: TipSet): CachedAnswer<CommitSha> {
    this.#unreachable.add(id, commit, tips.fingerprint)
    return { status: 'missing' }
  }

  #tipSetOf(list: TipList): TipSet {
    const known = this.#tipSets.get(list) ?? tipSetOf(list.values())
    this.#tipSets.set(list, known)
    return known
  }
}

function keyOf(repository: HostRepository, commit: CommitSha): string {
  return `${repository.id} ${commit}`
}

/** Whether the commit of a comparison exists. For unrelated histories, the host answers "missing" and says that they have no common ancestor. */
function existenceOf(compared: ApiAnswer): 'commit' | 'nothing' | 'unknown' {
  switch (compared.status) {
    case 'ok':
      return 'commit'
    case 'missing':
      return /common ancestor/i.test(compared.message) ? 'commit' : 'nothing'
    default:
      return 'unknown'
  }
}
