import type { HostRepository } from '../ports/git-host.ts'
import { SEARCH_VERSION } from '../search/analyze.ts'
import type { CommitSha } from './format.ts'
import { FORMAT_VERSION, RULES_VERSION } from './format.ts'

/** The only place where an object key is spelled. The class comes first, then a hash that spreads the load of a store. */

export function headerKey(repository: HostRepository, commit: CommitSha): string {
  return `${classedPrefix(repository)}/c/${commit}/${VERSIONS}`
}

export function packKey(repository: HostRepository, packName: string): string {
  return `${classedPrefix(repository)}/p/${packName}`
}

/** Names the blobs that indexing a commit has met. A hint for the next commit, not part of the snapshot. */
export function metBlobsKey(repository: HostRepository, commit: CommitSha): string {
  return `${classedPrefix(repository)}/b/${commit}/${VERSIONS}`
}

/** Lease or failure of an index job. */
export function jobKey(repository: HostRepository, commit: CommitSha): string {
  return `ctl/job/${classedPrefix(repository)}/${commit}.${VERSIONS}`
}

/** Names the commit that was indexed last. */
export function lastIndexedKey(repository: HostRepository): string {
  return `ctl/last/${classedPrefix(repository)}/${VERSIONS}`
}

/** The documents of one account's indexed repositories, one each. */
export function ownerPrefix(ownerId: string): string {
  return `ctl/owner/${spread(ownerId)}/${VERSIONS}/`
}

export function ownerListingKey(ownerId: string, repositoryId: string): string {
  return `${ownerPrefix(ownerId)}${repositoryId}`
}

export const QUEUE_PREFIX = 'ctl/queue/'

/** Marker of a waiting job. */
export function queueKey(repository: HostRepository, commit: CommitSha): string {
  return `${QUEUE_PREFIX}${classedPrefix(repository)}/${commit}.${VERSIONS}`
}

/** Snapshots of other reading rules, another format or other search terms are other objects. */
const VERSIONS = `r${RULES_VERSION}f${FORMAT_VERSION}s${SEARCH_VERSION}`

// What is private shares no prefix with what is public, jobs included: a repository that changes from one to the other starts anew.
function classedPrefix(repository: HostRepository): string {
  return `${repository.visibility === 'public' ? 'pub' : 'prv'}/${spread(repository.id)}`
}

function spread(id: string): string {
  return `${hash12Bits(id).toString(16).padStart(3, '0')}/${id}`
}

// FNV-1a folded to 12 bits: core stays free of the platform's crypto, and the spread need not resist an adversary.
function hash12Bits(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return ((hash >>> 12) ^ hash) & 0xfff
}
