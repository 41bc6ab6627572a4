import { LRUCache } from 'lru-cache'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { listRefs, type Remote, type RemoteRef, TooManyRefs } from '#infra/git/upload-pack.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { type GitFailure, readGitFailure, type Trouble, UNAVAILABLE } from './answers.ts'

export interface TipsOptions {
  /** @param isAnonymous without the credential */
  remoteOf(repository: RepositoryName, isAnonymous?: boolean): Remote
  clock: Clock
  /** Aborts everything under way. */
  closing: AbortSignal
  /** Timeout of one request. Default: 5 s. */
  answerMs?: number
}

/** Object ids by the full names of branches and tags. Annotated tags are peeled. */
export type TipList = ReadonlyMap<string, string>

/** Questions to the host by git's own protocol: free of the API's quota, and one request lists all refs. */
export interface Tips {
  /** Branches and tags, listed at most `freshSeconds` ago. `unavailable` for a repository with too many. */
  list(repository: HostRepository, freshSeconds: number): Promise<CachedAnswer<TipList> | Trouble>
  /** Whether an anonymous request sees the repository. */
  look(repository: RepositoryName): Promise<{ status: 'ok' } | GitFailure>
  forget(id: string): void
}

export type RepositoryName = Pick<HostRepository, 'owner' | 'name'>

/** For questions about the present: they share only the answers of concurrent questions. */
export const NOW_SECONDS = 1

/** Cached branches and tags of all repositories. */
const TIPS_BYTES = 32 * 1024 * 1024
const ANSWER_MS = 5_000
/** Keeps a listing below `TIPS_BYTES` of memory. A larger one could not be cached, so every lookup of a name would list again. */
const ANSWER_BYTES = 5 * 1024 * 1024
/** A repository with more branches and tags is not listed again for this time: reading them takes seconds. */
const TOO_MANY_SECONDS = 300
const TOO_MANY_ENTRIES = 10_000
/** Concurrent requests. Further questions fail at once. */
const AT_ONCE = 40
const BUSY: Trouble = { status: 'unavailable', retryAfterSeconds: 1 }

export function createTips({ remoteOf, clock, closing, answerMs = ANSWER_MS }: TipsOptions): Tips {
  // Longer than any request: the callers have timeouts of their own.
  const patienceMs = 2 * answerMs
  const cache = new AnswerCache<TipList>({ maxBytes: TIPS_BYTES, patienceMs, clock })
  /** By id, in milliseconds since 1970. */
  const foundTooManyAt = new LRUCache<string, number>({ max: TOO_MANY_ENTRIES })
  const now = () => clock.now().getTime()
  let running = 0

  /** @param onTooMany called when the listing exceeds `ANSWER_BYTES` */
  async function ask(
    remote: Remote,
    prefixes: readonly string[],
    onTooMany = () => {},
  ): Promise<{ status: 'ok'; value: RemoteRef[] } | GitFailure> {
    if (running >= AT_ONCE) return BUSY
    running++
    const signal = AbortSignal.any([closing, AbortSignal.timeout(answerMs)])
    try {
      return { status: 'ok', value: await listRefs({ remote, signal }, prefixes, ANSWER_BYTES) }
    } catch (error) {
      if (error instanceof TooManyRefs) onTooMany()
      return readGitFailure(error, remote.authorization === null)
    } finally {
      running--
    }
  }

  async function askTips(repository: HostRepository): Promise<CachedAnswer<TipList> | Trouble> {
    if (now() - (foundTooManyAt.get(repository.id) ?? Number.NEGATIVE_INFINITY) < TOO_MANY_SECONDS * 1000) return UNAVAILABLE
    const answer = await ask(remoteOf(repository), ['refs/heads/', 'refs/tags/'], () => foundTooManyAt.set(repository.id, now()))
    if (answer.status === 'moved') return UNAVAILABLE
    return answer.status === 'ok' ? { status: 'ok', value: new Map(answer.value.map(({ name, oid }) => [name, oid])) } : answer
  }

  return {
    list: (repository, freshSeconds) => {
      return cache.get(repository.id, { freshSeconds, staleSeconds: freshSeconds }, () => askTips(repository))
    },
    look: repository => ask(remoteOf(repository, true), ['HEAD']),
    forget(id) {
      foundTooManyAt.delete(id)
      cache.drop(id)
    },
  }
}
