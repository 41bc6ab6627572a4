import { LRUCache } from 'lru-cache'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { AnswerCache, type Kept } from './answer-cache.ts'
import { type GitFailure, type Trouble, UNAVAILABLE } from './answers.ts'
import type { GitHubApi } from './api.ts'
import { readRepository } from './described.ts'
import { NOW_SECONDS, type Tips } from './tips.ts'
import type { NamedRepository } from './webhook.ts'

export interface RepositoriesOptions {
  api: Pick<GitHubApi, 'get' | 'maySeePrivate'>
  tips: Pick<Tips, 'list' | 'look'>
  /** Whether the host may show nothing to those who do not sign in, as Enterprise Servers do: what it calls public is that to its own people. */
  showsNobody: boolean
  patienceMs: number
  clock: Clock
}

/** What the host says of repositories, by their names. */
export interface Repositories {
  /** As the host described it at most so long ago. */
  find(owner: string, name: string, freshSeconds: number): Promise<Kept<HostRepository> | Trouble>
  /** Another answer has shown that everyone sees it. @param askedAt when the question was asked, in milliseconds since 1970 */
  noteShown(repository: HostRepository, askedAt: number): void
  /** Whether the host has shown within the last minute that everyone sees it. */
  wasShownLately(repository: HostRepository): boolean
  /** Whether, as far as is known, its name stands for nothing or for another one by now. */
  isGone(repository: HostRepository): boolean
  /** Whether the host was seen to withhold it from everyone: its listings go on naming it. */
  isBlocked(owner: string, name: string): boolean
  /** They may have other names, or be hidden, from now on. */
  forget(named: readonly NamedRepository[]): void
}

/** Within so long, what the host stops to show is shown no more. */
export const SHOWN_SECONDS = 60
/** While the host cannot be asked, what it said last is good for so long. */
export const STALE_SECONDS = 600

/** What a repository says of itself, and what its default branch is, changes seldom. */
export const DESCRIBED_SECONDS = 300
const HELD_REPOSITORIES = 10_000
const MISSING = { status: 'missing' } as const
const UNTOLD = { status: 'untold' } as const

interface KnownRepository {
  repository: HostRepository
  etag: string | null
  /** When the API described it, in milliseconds since 1970. */
  describedAt: number
}

export function createRepositories({ api, tips, showsNobody, patienceMs, clock }: RepositoriesOptions): Repositories {
  const cache = new AnswerCache<KnownRepository>({ capacity: HELD_REPOSITORIES, patienceMs, clock })
  /** By id, in milliseconds since 1970. */
  const shownAt = new LRUCache<string, number>({ max: HELD_REPOSITORIES })
  /** When the host last told of a change, likewise. */
  const changedAt = new LRUCache<string, number>({ max: HELD_REPOSITORIES })
  /** By name. */
  const blocked = new LRUCache<string, true>({ max: HELD_REPOSITORIES })
  const now = () => clock.now().getTime()

  async function ask(owner: string, name: string, known: KnownRepository | null): Promise<Kept<KnownRepository> | Trouble> {
    const askedAt = now()
    const looked = await lookAsEveryone(owner, name)
    if (looked.status === 'missing') return MISSING
    // Of one that everyone saw minutes ago nothing is betrayed when the API is asked at once.
    if ((looked.status === 'rate_limited' || looked.status === 'unavailable') && known === null) return looked
    if (looked.status === 'ok' && known !== null) {
      noteShown(known.repository, askedAt)
      if (askedAt - known.describedAt < DESCRIBED_SECONDS * 1000) return { status: 'ok', value: known }
    }
    const etag = known?.etag ? { etag: known.etag } : {}
    const answer = await api.get('/repos/{owner}/{repo}', { owner, repo: name }, { isAgain: known !== null, ...etag })
    switch (answer.status) {
      case 'ok': {
        const repository = readRepository(answer.data)
        if (repository === null) return UNAVAILABLE
        if (repository === 'hidden') return MISSING
        noteShown(repository, askedAt)
        blocked.delete(keyOf(owner, name))
        return { status: 'ok', value: { repository, etag: answer.etag, describedAt: askedAt } }
      }
      case 'unchanged':
        if (known === null) return UNAVAILABLE
        noteShown(known.repository, askedAt)
        return { status: 'ok', value: { ...known, describedAt: askedAt } }
      case 'missing':
        if (/access blocked/i.test(answer.message)) blocked.set(keyOf(owner, name), true)
        return MISSING
      case 'rate_limited': {
        if (known === null) return answer
        // What was said of it holds until the limit is over. Whether it may still be shown cannot wait for that.
        const shown = api.maySeePrivate ? looked : await tips.list(known.repository, NOW_SECONDS)
        if (shown.status === 'missing') return MISSING
        if (shown.status !== 'ok') return answer
        noteShown(known.repository, askedAt)
        return { status: 'ok', value: known }
      }
      case 'no_commit':
        return UNAVAILABLE
      case 'unavailable':
        return answer
    }
  }

  /**
   * With a credential that sees more than everyone, git looks first, as nobody. So whether a hidden repository is there does not even show
   * in the time that an answer takes, and no other answer shows that one is still public.
   */
  async function lookAsEveryone(owner: string, name: string): Promise<{ status: 'ok' | 'untold' } | GitFailure> {
    if (!api.maySeePrivate || showsNobody) return UNTOLD
    const answer = await tips.look({ owner, name })
    if (answer.status === 'missing' && answer.isBlocked) blocked.set(keyOf(owner, name), true)
    return answer
  }

  function noteShown({ id }: HostRepository, askedAt: number): void {
    // Unless the host has told of a change since it was asked.
    if (askedAt > (changedAt.get(id) ?? 0)) shownAt.set(id, askedAt)
  }

  return {
    async find(owner, name, freshSeconds) {
      const times = { freshSeconds, staleSeconds: STALE_SECONDS }
      const answer = await cache.get(keyOf(owner, name), times, known => ask(owner, name, known))
      return answer.status === 'ok' ? { status: 'ok', value: answer.value.repository } : answer
    },

    noteShown,

    wasShownLately: ({ id }) => now() - (shownAt.get(id) ?? 0) < SHOWN_SECONDS * 1000,

    isGone({ id, owner, name }) {
      const known = cache.known(keyOf(owner, name))
      return known !== null && (known.status === 'missing' || known.value.repository.id !== id)
    },

    isBlocked: (owner, name) => blocked.has(keyOf(owner, name)),

    forget(named) {
      const ids = new Set(named.map(({ id }) => id))
      const names = new Set(named.map(({ fullName }) => fullName.toLowerCase()))
      for (const id of ids) {
        changedAt.set(id, now())
        shownAt.delete(id)
      }
      cache.dropWhere((key, answer) => names.has(key) || (answer?.status === 'ok' && ids.has(answer.value.repository.id)))
    },
  }
}

/** Names are the same in any case. */
function keyOf(owner: string, name: string): string {
  return `${owner}/${name}`.toLowerCase()
}
