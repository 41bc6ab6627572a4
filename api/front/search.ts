import { LRUCache } from 'lru-cache'
import { parseAddress } from '#core/address.ts'
import { createFairGate, type FairGateLimits, GateFull, nextSlot } from '#core/concurrency/fair-gate.ts'
import type { FoundSkill } from '#core/contract/find.ts'
import { ServiceError } from '#core/errors.ts'
import { FIND_LIMIT } from '#core/limits.ts'
import type { FoundInRepository, ListedRepositories, SearchedRepositories } from '#core/listed-repositories.ts'
import { memoryOfEntry } from '#core/memory.ts'
import type { Deps } from '../deps.ts'
import { findInMount } from '../reading/find.ts'
import { RankingBuffers } from '../search/ranking.ts'
import { openIndexed, peekReader, readyMount } from './peek.ts'

/** Anyone may start a search, so clients take turns: one that asks for many delays the others by one. Behind a proxy, all are one client. */
const SEARCHES: FairGateLimits = { limit: 2, limitEach: 2, maxWaitingEach: 16, maxWaiting: 64 }
/** Repositories of one search, and its time. */
const REPOSITORIES = 200
const SEARCH_MS = 2_000
/** Skills of one repository. */
const SKILLS = 5
/** Memory of recent answers, and how long they are given again. */
const KEPT_BYTES = 2 * 1024 * 1024
const KEPT_MS = 10_000

/** Lists that are the same for everyone: see `ListedRepositories`. */
export function listedRepositories(deps: Deps): ListedRepositories {
  const inTurn = createFairGate(SEARCHES)
  const rankingBuffers = new RankingBuffers()
  const kept = new LRUCache<string, SearchedRepositories>({ maxSize: KEPT_BYTES, sizeCalculation: memoryOfEntry, ttl: KEPT_MS })
  const searchOne = (address: string, query: string) => searchRepository(deps, rankingBuffers, address, query)
  return {
    peek: peekReader(deps),
    async search(addresses, query, client) {
      const key = [query, ...addresses].join('\n')
      const known = kept.get(key)
      if (known) return known
      try {
        const answer = await inTurn(client, () => searchAll(addresses, query, searchOne))
        if (!answer.isCut) kept.set(key, answer)
        return answer
      } catch (error) {
        if (error instanceof GateFull) return null
        throw error
      }
    },
  }
}

/** What a repository has: `unread` before it is indexed, `closed` where not everyone may open it or it cannot be read now. */
type Searched = FoundInRepository | 'unread' | 'closed'

async function searchAll(
  addresses: readonly string[],
  query: string,
  searchOne: (address: string, query: string) => Promise<Searched>,
): Promise<SearchedRepositories> {
  const end = performance.now() + SEARCH_MS
  const found: FoundInRepository[] = []
  const unread: string[] = []
  let isCut = addresses.length > REPOSITORIES
  for (const address of addresses.slice(0, REPOSITORIES)) {
    if (performance.now() > end) {
      isCut = true
      break
    }
    // Other requests are answered between two repositories.
    await nextSlot('search of all repositories')
    const searched = await searchOne(address, query)
    if (searched === 'unread') unread.push(address)
    else if (searched !== 'closed' && searched.skills.length > 0) found.push(searched)
  }
  const words = wordsOf(query)
  const closeness = new Map(found.map(one => [one, Math.max(...one.skills.map(skill => closenessOf(skill, words)))]))
  // The scores of two repositories cannot be compared. Equally close ones stay in the order of the list.
  found.sort((left, right) => (closeness.get(right) ?? 0) - (closeness.get(left) ?? 0))
  return { found, unread, isCut }
}

async function searchRepository(deps: Deps, rankingBuffers: RankingBuffers, text: string, query: string): Promise<Searched> {
  try {
    const hosts = deps.hosts.map(host => host.segment)
    const { snapshot, ...mount } = await openIndexed(deps, parseAddress(text, hosts))
    if (snapshot === null) return 'unread'
    const ready = await readyMount({ ...mount, snapshot })
    if (ready === null) return 'closed'
    const page = await findInMount({ cursorKeys: deps.cursorKeys, rankingBuffers }, ready, { query, limit: FIND_LIMIT.max })
    const skills = page.items.filter(item => item.kind === 'skill')
    return { address: text, skills: skills.slice(0, SKILLS), hasMore: skills.length > SKILLS || page.nextCursor !== null }
  } catch (error) {
    if (error instanceof ServiceError) return 'closed'
    throw error
  }
}

/** How much of the query a skill says of itself: its name is the query, its name has all words, its name or its description has all words. */
function closenessOf({ name, description }: FoundSkill, words: readonly string[]): number {
  const [inName, inBoth] = [name, `${name} ${description}`].map(wordsOf)
  if (inName?.join(' ') === words.join(' ')) return 3
  if (words.every(word => inName?.includes(word))) return 2
  return words.every(word => inBoth?.includes(word)) ? 1 : 0
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}
