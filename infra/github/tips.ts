import { LRUCache } from 'lru-cache'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { listRefs, type Remote, type RemoteRef, TooManyRefs } from '#infra/git/upload-pack.ts'
import { AnswerCache, type Kept } from './answer-cache.ts'
import { type GitFailure, readGitFailure, type Trouble, UNAVAILABLE } from './answers.ts'

export interface TipsOptions {
  /** @param isAnonymous as nobody in particular, whatever the credential */
  remoteOf(repository: RepositoryName, isAnonymous?: boolean): Remote
  clock: Clock
  /** Ends everything under way. */
  closing: AbortSignal
  answerMs?: number
}

/** Branches and tags by their full names, with what they point at: of an annotated tag, what lies behind it. */
export type TipList = ReadonlyMap<string, string>

/** What git tells of repositories. It takes nothing of the API's quota, and one request tells all names of a repository. */
export interface Tips {
  /** As they were at most so long ago. Of a repository that has too many nobody is told. */
  list(repository: HostRepository, freshSeconds: number): Promise<Kept<TipList> | Trouble>
  /** Whether nobody in particular sees it. */
  look(repository: RepositoryName): Promise<{ status: 'ok' } | GitFailure>
  forget(id: string): void
}

export type RepositoryName = Pick<HostRepository, 'owner' | 'name'>

/** For those who ask what is true now: they share an answer with whoever asks at the same time. */
export const NOW_SECONDS = 1

/** Branches and tags of all repositories together: some ten megabytes. */
const HELD_TIPS = 100_000
const ANSWER_MS = 5_000
/** Fewer than `HELD_TIPS`: what cannot be kept would be listed again for every name. */
const ANSWER_BYTES = 5 * 1024 * 1024
/** A repository with more branches and tags is not asked again for so long: reading them takes seconds. */
const TOO_MANY_SECONDS = 300
const HELD_REPOSITORIES = 10_000
/** More at once are for nobody's good. Whoever comes then is told to come again. */
const AT_ONCE = 40
const BUSY: Trouble = { status: 'unavailable', retryAfterSeconds: 1 }

export function createTips({ remoteOf, clock, closing, answerMs = ANSWER_MS }: TipsOptions): Tips {
  // Whoever asks has a patience of their own.
  const patienceMs = 2 * answerMs
  const cache = new AnswerCache<TipList>({ capacity: HELD_TIPS, sizeOf: tips => tips.size, patienceMs, clock })
  /** By id, in milliseconds since 1970. */
  const foundTooManyAt = new LRUCache<string, number>({ max: HELD_REPOSITORIES })
  const now = () => clock.now().getTime()
  let running = 0

  /** @param onTooMany called where that is the trouble */
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

  async function askTips(repository: HostRepository): Promise<Kept<TipList> | Trouble> {
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
