import { LRUCache } from 'lru-cache'
import type { Address } from '#core/address.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { ComparisonBase } from '#core/comparison-base.ts'
import type { ChangesPage } from '#core/contract/changes.ts'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import { entriesAtMost } from '#core/memory.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import type { Deps } from '../deps.ts'
import { identify } from '../http/admit.ts'
import { findBase } from '../mount/comparison-base.ts'
import { createFindLikeCommits } from '../mount/like-commits.ts'
import { readRefs } from '../mount/list-refs.ts'
import { openRepository } from '../mount/open-mount.ts'
import { withoutJobs } from '../mount/without-jobs.ts'
import { answerChanges } from './changes.ts'

/** What the pages learn about versions of a repository, beside the interface: as the visitor who asks may see it. */
export interface PageVersions {
  /** What a comparison begins at that names no older side. @throws ServiceError as `openMount` */
  baseOf(address: Address): Promise<ComparisonBase>
  /** The commits that a shortened hash may mean. @throws ServiceError as `openRepository` */
  commitsLike(address: Address, hash: string): Promise<readonly CommitSha[]>
  /** Dates of two commits, the number of those between them, and whether they have one in common; `null` where the host does not tell. @throws ServiceError as `openRepository` */
  between(address: Address, from: string, to: string): Promise<BetweenCommits>
  /** What a comparison begins at, and whether it is indexed; `null`: nothing is older. Offers no job. @throws ServiceError as `openMount` */
  indexedBase(address: Address): Promise<IndexedBase | null>
  /** The first changes of the mounted folder; `null` unless both sides are indexed. Offers no job. @throws ServiceError as `openMount` */
  changesIfIndexed(address: Address, from: string): Promise<ChangesPage | null>
}

export interface IndexedBase {
  /** As an address spells it: a tag, or a commit. */
  ref: string
  commit: CommitSha
  isIndexed: boolean
}

export interface BetweenCommits {
  fromDate: string | null
  toDate: string | null
  commits: number | null
  haveCommonCommit: boolean | null
}

/** Headers of a request that say who asks. */
export interface PageCredentials {
  cookie?: string
  authorization?: string
}

/** @returns the versions as the sender of the credentials sees them; `null`: a stranger */
export function pageVersions(deps: Deps): (credentials: PageCredentials | null) => PageVersions {
  const findLikeCommits = createFindLikeCommits(deps)
  const offeringNone = withoutJobs(deps)
  // A store is asked again after a while only: each overview asks, and most bases are never indexed.
  const absent = new LRUCache<string, true>({ ...entriesAtMost(ABSENT), ttl: ABSENT_MS })
  const isIndexed = async (repository: HostRepository, commit: CommitSha) => {
    const key = `${repository.id} ${repository.visibility} ${commit}`
    if (absent.has(key)) return false
    const found = (await deps.snapshots.open(repository, commit)) !== null
    if (!found) absent.set(key, true)
    return found
  }
  return credentials => {
    const viewing = () => identify(deps.people, { ...credentials }, ENDPOINTS.changes.credential)
    return {
      baseOf: async address => await findBase(deps, await viewing(), address),
      commitsLike: async (address, hash) => await findLikeCommits(await viewing(), address, hash),
      async between(address, from, to) {
        const { host, repository } = await openRepository(deps, await viewing(), address)
        const { known } = await readRefs(host, repository)
        if (!known) return { fromDate: null, toDate: null, commits: null, haveCommonCommit: null }
        return {
          fromDate: known.dateOf(from),
          toDate: known.dateOf(to),
          commits: known.countBetween(from, to),
          haveCommonCommit: known.haveCommonCommit(from, to),
        }
      },
      async indexedBase(address) {
        const viewer = await viewing()
        const base = await findBase(deps, viewer, address)
        if (base.kind !== 'tag' && base.kind !== 'parent') return null
        const { repository } = await openRepository(deps, viewer, address)
        const { commit } = base
        return { ref: base.kind === 'tag' ? base.ref : commit, commit, isIndexed: await isIndexed(repository, commit) }
      },
      async changesIfIndexed(subject, from) {
        const answer = await answerChanges(offeringNone, { viewer: await viewing(), subject, query: { from, limit: ITEMS } })
        return answer.status === 'ready' && 'items' in answer ? answer : null
      },
    }
  }
}

const ITEMS = 200
const ABSENT = 10_000
const ABSENT_MS = 20_000
