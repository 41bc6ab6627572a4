import type { FoundSkill } from './contract/find.ts'
import type { IndexErrorCode, License } from './contract/shared.ts'

/**
 * What may be said of repositories in lists that are the same for everyone. The lists hold the operator's featured addresses and local
 * repositories: there is none of all that is indexed.
 */
export interface ListedRepositories {
  /** The state of each address, in their order; `null` for one that not everyone may open. It starts no index job. */
  peek(addresses: readonly string[]): Promise<readonly (PeekedRepository | null)[]>

  /**
   * Searches the skills of those of the addresses that are indexed. It starts no index job.
   *
   * @param query at most `FIND_QUERY_CHARACTERS`, and not blank
   * @param client who asks: clients take turns
   * @returns `null` when too many searches of the client wait
   */
  search(addresses: readonly string[], query: string, client: string): Promise<SearchedRepositories | null>
}

export interface PeekedRepository {
  /** As in the list. */
  address: string
  /** What its host says of it; `null` where it says nothing, or could not be asked in time. */
  description: string | null
  state: ListedState
}

export type ListedState =
  /** `facts` of the folder of the address. */
  | { kind: 'ready'; facts: ListedFacts }
  /** Indexed by the first visit that it gets. */
  | { kind: 'unread' }
  | { kind: 'indexing' }
  | { kind: 'failed'; errorCode: IndexErrorCode }
  /** Without a commit. */
  | { kind: 'empty' }
  /** Its objects cannot be read. */
  | { kind: 'damaged' }
  /** Whoever has it cannot tell now. */
  | { kind: 'unavailable' }
  /** It was not found out in the time of a list. */
  | { kind: 'late' }

export interface ListedFacts {
  /** What the folder says of itself: its manifest, or else its README. */
  sentence: string | null
  /** The language that the manifest declares. */
  language: string | null
  skills: number
  documents: number
  /** Skills and documents whose license permits only a description. */
  withheld: number
  license: License
  findings: number | null
  /** ISO 8601: the date of the commit; `null` where it is not known. */
  changedAt: string | null
}

export interface SearchedRepositories {
  /** Those with a skill that matches, the best first. */
  found: FoundInRepository[]
  /** Addresses that are not indexed, so that nothing of them was searched. */
  unread: string[]
  /** Whether more repositories could not be searched in time. */
  isCut: boolean
}

export interface FoundInRepository {
  address: string
  /** Best first. */
  skills: FoundSkill[]
  /** Whether the repository has further results. */
  hasMore: boolean
}
