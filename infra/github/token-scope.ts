import { z } from 'zod'
import type { Clock } from '#core/ports/system.ts'
import type { ApiAnswer } from './answers.ts'
import type { Headers } from './api-client.ts'
import type { SharedCache } from './shared-cache.ts'

export interface TokenScopeOptions {
  token: string | null
  clock: Clock
  /** Asks the API with the token. */
  get(url: string, parameters: Readonly<Record<string, string | number>>): Promise<ApiAnswer>
  /** What other processes asked with the same token; `null`: this process shares nothing. */
  shared: SharedCache | null
}

/** What the operator's token sees. */
export interface TokenScope {
  /** Notes the headers of an answer to the token. */
  note(headers: Headers): void
  /** Whether it may see private repositories. `true` until an answer of the host says otherwise. */
  maySeePrivate(): boolean
  /** How old the knowledge may be that it does not, in seconds. */
  readonly seconds: number
  /** Asks the host, and says it in a sentence; `null` without a token, or when the host does not answer. */
  describe(): Promise<string | null>
}

/** GitHub says in no header what a fine-grained token sees, so it is asked for its private repositories: again after this time, in the background. */
const LISTED_SECONDS = 20
/** An older listing does not count: a repository may have become private since. */
const COUNTED_SECONDS = 30
/** A process that has the listing of another one lists later than that one, by up to this time. */
const SHARED_DELAY_SECONDS = 4
const Listing = z.object({ isEmpty: z.boolean() })
const FINE_GRAINED = 'github_pat_'
/** Tokens whose scopes tell what they see. That of an app has permissions instead, and an empty list of scopes. */
const SCOPED = /^(?:gh[po]_|[0-9a-f]{40}$)/

export function createTokenScope({ token, clock, get, shared }: TokenScopeOptions): TokenScope {
  const isFineGrained = token?.startsWith(FINE_GRAINED) === true
  const isScoped = token !== null && SCOPED.test(token)
  /** Scopes of a classic token; `null`: unknown. */
  let scopes: readonly string[] | null = null
  /** The last listing of a fine-grained token's private repositories. Times in milliseconds since 1970. */
  let listed = { askedAt: Number.NEGATIVE_INFINITY, answeredAt: Number.NEGATIVE_INFINITY, isEmpty: false }
  // No webhook tells of it, and no listing counts for longer than before.
  const namespace = shared?.namespace({ name: 'sight', schema: Listing, subjectsOf: () => [] }) ?? null
  const isWithin = (instant: number, seconds: number) => clock.now().getTime() - instant < seconds * 1000

  async function list(): Promise<void> {
    const askedAt = clock.now().getTime()
    listed = { ...listed, askedAt }
    const lookup = (await namespace?.get('private repositories')) ?? null
    const found = lookup?.found
    if (found?.answer.status === 'ok' && isWithin(found.askedAt, LISTED_SECONDS)) {
      const delayMs = Math.random() * SHARED_DELAY_SECONDS * 1000
      listed = { askedAt: found.askedAt + delayMs, answeredAt: found.askedAt, isEmpty: found.answer.value.isEmpty }
      return
    }
    const answer = await get('/user/repos', { visibility: 'private', per_page: 1 })
    if (answer.status !== 'ok') return
    // A page may be empty although others follow.
    const isEmpty = Array.isArray(answer.data) && answer.data.length === 0 && answer.link === null
    listed = { askedAt, answeredAt: askedAt, isEmpty }
    lookup?.publish({ answer: { status: 'ok', value: { isEmpty } }, askedAt })
  }

  function maySeePrivate(): boolean {
    if (token === null) return false
    if (!isFineGrained) return scopes === null || scopes.includes('repo')
    if (!isWithin(listed.askedAt, LISTED_SECONDS)) void list().catch(() => {})
    return !(listed.isEmpty && isWithin(listed.answeredAt, COUNTED_SECONDS))
  }

  return {
    note(headers) {
      const text = headers['x-oauth-scopes']
      if (isScoped && text !== undefined) scopes = String(text).split(/,\s*/)
    },

    maySeePrivate,

    seconds: isFineGrained ? COUNTED_SECONDS : 0,

    async describe() {
      if (token === null) return null
      const limits = await get('/rate_limit', {})
      if (limits.status !== 'ok') return null
      if (isFineGrained) await list()
      if (!maySeePrivate()) return 'The GitHub token sees public repositories only, as it should.'
      return isFineGrained || scopes !== null
        ? 'The GitHub token may see private repositories, which are never served. It makes every first visit slower: better use a token for public repositories only.'
        : 'GitHub does not say what the token sees. A token for public repositories only makes first visits faster.'
    },
  }
}
