import { LRUCache } from 'lru-cache'
import type { CommitSha } from '#core/commit-sha.ts'
import { createFairGate, type FairGateLimits, GateFull, nextSlot } from '#core/concurrency/fair-gate.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { listRefs, type Remote, type RemoteRef, TooManyRefs } from '../git/upload-pack.ts'
import { AnswerCache, type CachedAnswer } from './answer-cache.ts'
import { type GitFailure, type HostFailure, readGitFailure, UNAVAILABLE } from './answers.ts'
import type { GitRemotes } from './git-remotes.ts'

export interface LsRemoteOptions {
  remotes: GitRemotes
  clock: Clock
  /** Aborts everything under way. */
  closing: AbortSignal
  /** Timeout of one request. Default: 5 s. */
  answerMs?: number | undefined
}

/** Object ids by the full names of branches and tags. Annotated tags are peeled. */
export type TipList = ReadonlyMap<string, string>

/** Questions to the host by git's own protocol: free of the API's quota, and one request lists all refs. */
export interface LsRemote {
  /** Branches and tags, listed at most `freshSeconds` ago. `unavailable` for a repository with too many. */
  list(repository: HostRepository, freshSeconds: number): Promise<CachedAnswer<TipList> | HostFailure>
  /** The commit of the default branch, as a request sees it now. */
  tip(repository: HostRepository, isAnonymous: boolean): Promise<CachedAnswer<CommitSha> | HostFailure>
  /**
   * Whether a request sees the repository.
   *
   * @param isKnown whether the repository existed before; new names are endless, and have places of their own, and so have new accounts
   * @returns `busy` when too many questions wait
   */
  look(repository: RepositoryName, isKnown: boolean, isAnonymous: boolean): Promise<{ status: 'ok' | 'busy' } | GitFailure>
  forget(id: string): void
  forgetAll(): void
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
const TOO_MANY_BYTES = 1024 * 1024
/** Concurrent requests about known repositories, which take turns. */
const AT_ONCE: FairGateLimits = { limit: 40, limitEach: 4, maxWaitingEach: 32, maxWaiting: 256 }
/** Concurrent requests about new names of accounts that exist. Accounts take turns. */
const NEW_NAMES_AT_ONCE: FairGateLimits = { limit: 10, limitEach: 4, maxWaitingEach: 32, maxWaiting: 64 }
/** Concurrent requests about names of accounts that may not exist. Visitors make up as many as they like, so turns alone are not fair. */
const NEW_OWNERS_AT_ONCE: FairGateLimits = { limit: 10, limitEach: 4, maxWaitingEach: 32, maxWaiting: 64 }
/** Memory for the accounts that git showed to have a repository: enough for some ten thousand. */
const OWNERS_BYTES = 2 * 1024 * 1024
const BUSY: HostFailure = { status: 'unavailable', retryAfterSeconds: 1 }

export function createLsRemote({ remotes, clock, closing, answerMs = ANSWER_MS }: LsRemoteOptions): LsRemote {
  // Longer than any request: the callers have timeouts of their own.
  const patienceMs = 2 * answerMs
  const cache = new AnswerCache<TipList>({ maxBytes: TIPS_BYTES, patienceMs, clock })
  /** By id, in milliseconds since 1970. */
  const foundTooManyAt = new LRUCache<string, number>({ maxSize: TOO_MANY_BYTES, sizeCalculation: memoryOfEntry })
  const now = () => clock.now().getTime()
  const throughGate = createFairGate(AT_ONCE)
  const throughNewNames = createFairGate(NEW_NAMES_AT_ONCE)
  const throughNewOwners = createFairGate(NEW_OWNERS_AT_ONCE)
  const shownOwners = new LRUCache<string, true>({ maxSize: OWNERS_BYTES, sizeCalculation: memoryOfEntry })

  /** @param onTooMany called when the listing exceeds `ANSWER_BYTES` */
  async function ask(
    repository: RepositoryName,
    isAnonymous: boolean,
    prefixes: readonly string[],
    onTooMany = () => {},
  ): Promise<{ status: 'ok'; value: RemoteRef[] } | GitFailure> {
    try {
      // The time begins with the question, which may have to wait for the first answer to the token.
      const list = (remote: Remote) =>
        listRefs({ remote, signal: AbortSignal.any([closing, AbortSignal.timeout(answerMs)]) }, prefixes, ANSWER_BYTES)
      return { status: 'ok', value: await remotes.ask(repository, list, { isAnonymous }) }
    } catch (error) {
      if (error instanceof TooManyRefs) onTooMany()
      const failure = readGitFailure(error, true)
      return failure.status === 'refused' ? UNAVAILABLE : failure
    }
  }

  async function askTips(repository: HostRepository): Promise<CachedAnswer<TipList> | HostFailure> {
    if (now() - (foundTooManyAt.get(repository.id) ?? Number.NEGATIVE_INFINITY) < TOO_MANY_SECONDS * 1000) return UNAVAILABLE
    const onTooMany = () => foundTooManyAt.set(repository.id, now())
    const askAll = () => ask(repository, false, ['refs/heads/', 'refs/tags/'], onTooMany)
    const answer = await throughGate(repository.id, askAll).catch(error => ifFull(error, BUSY))
    if (answer.status === 'moved') return UNAVAILABLE
    return answer.status === 'ok' ? { status: 'ok', value: new Map(answer.value.map(({ name, oid }) => [name, oid])) } : answer
  }

  return {
    list: async (repository, freshSeconds) => {
      return await cache.get(repository.id, { freshSeconds, staleSeconds: freshSeconds }, () => askTips(repository))
    },
    tip: async (repository, isAnonymous) => {
      const name = `refs/heads/${repository.defaultBranch}`
      const answer = await throughGate(repository.id, () => ask(repository, isAnonymous, [name])).catch(error =>
        ifFull(error, BUSY),
      )
      if (answer.status === 'moved') return UNAVAILABLE
      if (answer.status !== 'ok') return answer
      const ref = answer.value.find(listed => listed.name === name)
      return ref ? { status: 'ok', value: ref.oid as CommitSha } : { status: 'missing' }
    },
    look: async (repository, isKnown, isAnonymous) => {
      const owner = repository.owner.toLowerCase()
      const askHead = () => ask(repository, isAnonymous, ['HEAD'])
      const looking = isKnown
        ? throughGate(`${owner}/${repository.name}`, askHead)
        : shownOwners.has(owner)
          ? throughNewNames(owner, () => inOwnSlots('new names', askHead))
          : throughNewOwners(owner, () => inOwnSlots('new owners', askHead))
      const answer = await looking.catch(error => ifFull(error, { status: 'busy' } as const))
      if (answer.status !== 'ok') return answer
      shownOwners.set(owner, true)
      return { status: 'ok' }
    },
    forget(id) {
      foundTooManyAt.delete(id)
      cache.drop(id)
    },
    forgetAll() {
      foundTooManyAt.clear()
      cache.dropWhere(() => true)
    },
  }
}

/** A question, and whatever follows its answer. Decision 0024. */
async function inOwnSlots<Value>(key: string, ask: () => Promise<Value>): Promise<Value> {
  await nextSlot(key)
  const answer = await ask()
  await nextSlot(key)
  return answer
}

function ifFull<Busy>(error: unknown, busy: Busy): Busy {
  if (error instanceof GateFull) return busy
  throw error
}
