import type { Address } from '#core/address.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { ComparisonBase } from '#core/comparison-base.ts'
import type { ChangesPage } from '#core/contract/changes.ts'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import type { Deps } from '../deps.ts'
import { identify } from '../http/admit.ts'
import { findBase } from '../mount/comparison-base.ts'
import { createFindLikeCommits } from '../mount/like-commits.ts'
import { readRefs } from '../mount/list-refs.ts'
import { openRepository } from '../mount/open-mount.ts'
import { answerChanges } from './changes.ts'

/** What the pages learn about versions of a repository, beside the interface: as the visitor who asks may see it. */
export interface PageVersions {
  /** What a comparison begins at that names no older side. @throws ServiceError as `openMount` */
  baseOf(address: Address): Promise<ComparisonBase>
  /** The commits that a shortened hash may mean. @throws ServiceError as `openRepository` */
  commitsLike(address: Address, hash: string): Promise<readonly CommitSha[]>
  /** Dates of two commits and the number of those between them; `null` where the host does not tell. @throws ServiceError as `openRepository` */
  between(address: Address, from: string, to: string): Promise<BetweenCommits>
  /** The first changes of the mounted folder; `null` unless both sides are indexed. Offers no job. @throws ServiceError as `openMount` */
  changesIfIndexed(address: Address, from: string): Promise<ChangesPage | null>
}

export interface BetweenCommits {
  fromDate: string | null
  toDate: string | null
  commits: number | null
}

/** Headers of a request that say who asks. */
export interface PageCredentials {
  cookie?: string
  authorization?: string
}

/** @returns the versions as the sender of the credentials sees them; `null`: a stranger */
export function pageVersions(deps: Deps): (credentials: PageCredentials | null) => PageVersions {
  const findLikeCommits = createFindLikeCommits(deps)
  const withoutJobs: Deps = { ...deps, queue: { offer: async () => ({ status: 'indexing' }) }, onOffered() {} }
  return credentials => {
    const viewing = () => identify(deps.people, { ...credentials }, ENDPOINTS.changes.credential)
    return {
      baseOf: async address => await findBase(deps, await viewing(), address),
      commitsLike: async (address, hash) => await findLikeCommits(await viewing(), address, hash),
      async between(address, from, to) {
        const { host, repository } = await openRepository(deps, await viewing(), address)
        const { known } = await readRefs(host, repository)
        if (!known) return { fromDate: null, toDate: null, commits: null }
        return { fromDate: known.dateOf(from), toDate: known.dateOf(to), commits: known.countBetween(from, to) }
      },
      async changesIfIndexed(subject, from) {
        const answer = await answerChanges(withoutJobs, { viewer: await viewing(), subject, query: { from, limit: ITEMS } })
        return answer.status === 'ready' && 'items' in answer ? answer : null
      },
    }
  }
}

const ITEMS = 200
