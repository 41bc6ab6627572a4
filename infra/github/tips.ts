import { LRUCache } from 'lru-cache'
import { createFairGate, type FairGateLimits } from '#core/concurrency/fair-gate.ts'
import { GateFull } from '#core/concurrency/gate.ts'
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
  /**
   * Whether a request sees the repository.
   *
   * @param isKnown whether the repository existed before; new names are endless, and have places of their own
   * @returns `busy` when too many questions wait
   */
  look(repository: RepositoryName, isKnown: boolean, isAnonymous: boolean): Promise<{ status: 'ok' | 'busy' } | GitFailure>
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
/** Concurrent requests about known repositories, which take turns. */
const AT_ONCE: FairGateLimits = { limit: 40, limitEach: 4, maxWaitingEach: 32, maxWaiting: 256 }
/** Concurrent requests about new names. Accounts take turns. */
const NEW_NAMES_AT_ONCE: FairGateLimits = { limit: 20, limitEach: 4, maxWaitingEach: 32, maxWaiting: 64 }
const BUSY: Trouble = { status: 'unavailable', retryAfterSeconds: 1 }

export function createTips({ remoteOf, clock, closing, answerMs = ANSWER_MS }: TipsOptions): Tips {
  // Longer than any request: the callers have timeouts of their own.
  const patienceMs = 2 * answerMs
  const cache = new AnswerCache<TipList>({ maxBytes: TIPS_BYTES, patienceMs, clock })
  /** By id, in milliseconds since 1970. */
  const foundTooManyAt = new LRUCache<string, number>({ max: TOO_MANY_ENTRIES })
  const now = () => clock.now().getTime()
  const throughGate = createFairGate(AT_ONCE)
  const throughNewNames = createFairGate(NEW_NAMES_AT_ONCE)

  /** @param onTooMany called when the listing exceeds `ANSWER_BYTES` */
  async function ask(
    remote: Remote,
    prefixes: readonly string[],
    onTooMany = () => {},
  ): Promise<{ status: 'ok'; value: RemoteRef[] } | GitFailure> {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(answerMs)])
    try {
      return { status: 'ok', value: await listRefs({ remote, signal }, prefixes, ANSWER_BYTES) }
    } catch (error) {
      if (error instanceof TooManyRefs) onTooMany()
      return readGitFailure(error, remote.authorization === null)
    }
  }

  async function askTips(repository: HostRepository): Promise<CachedAnswer<TipList> | Trouble> {
    if (now() - (foundTooManyAt.get(repository.id) ?? Number.NEGATIVE_INFINITY) < TOO_MANY_SECONDS * 1000) return UNAVAILABLE
    const onTooMany = () => foundTooManyAt.set(repository.id, now())
    const askAll = () => ask(remoteOf(repository), ['refs/heads/', 'refs/tags/'], onTooMany)
    const answer = await throughGate(repository.id, askAll).catch(error => ifFull(error, BUSY))
    if (answer.status === 'moved') return UNAVAILABLE
    return answer.status === 'ok' ? { status: 'ok', value: new Map(answer.value.map(({ name, oid }) => [name, oid])) } : answer
  }

  return {
    list: (repository, freshSeconds) => {
      return cache.get(repository.id, { freshSeconds, staleSeconds: freshSeconds }, () => askTips(repository))
    },
    look: async (repository, isKnown, isAnonymous) => {
      const { owner, name } = repository
      const lookNow = () => ask(remoteOf(repository, isAnonymous), ['HEAD'])
      const looking = isKnown ? throughGate(`${owner}/${name}`, lookNow) : throughNewNames(owner.toLowerCase(), lookNow)
      return looking.catch(error => ifFull(error, { status: 'busy' } as const))
    },
    forget(id) {
      foundTooManyAt.delete(id)
      cache.drop(id)
    },
  }
}

function ifFull<Busy>(error: unknown, busy: Busy): Busy {
  if (error instanceof GateFull) return busy
  throw error
}
