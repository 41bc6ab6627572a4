import type { CommitSha } from '../commit-sha.ts'
import type { HostRepository } from '../ports/git-host.ts'
import { FORMAT_VERSION, RULES_VERSION, SEARCH_VERSION } from './versions.ts'

/**
 * The only place that spells keys of the stores. The key of an object begins with the class of its repository and a hash that spreads the load;
 * in the key of an entry they follow the area, such as `ctl/job/`. Listings of owners have no class: private repositories are not listed.
 */

/** Header of a snapshot. */
export function headerKey(repository: HostRepository, commit: CommitSha): string {
  return `${classedPrefix(repository)}/c/${commit}/${VERSIONS}`
}

/** Prefix of the headers of a repository, of all versions. */
export function headersPrefix(repository: KeyedRepository): string {
  return keysAt(classedPrefix(repository)).headers
}

export function packKey(repository: HostRepository, packName: string): string {
  return `${classedPrefix(repository)}/p/${packName}`
}

/** Entry with the lease or the failure of an index job. */
export function jobKey(repository: HostRepository, commit: CommitSha): string {
  return `ctl/job/${classedPrefix(repository)}/${commit}.${VERSIONS}`
}

/** Entry with the commit that was indexed last. */
export function lastIndexedKey(repository: HostRepository): string {
  return `ctl/last/${classedPrefix(repository)}/${VERSIONS}`
}

/** Prefix of the listings of one account's indexed repositories. */
export function ownerPrefix(ownerId: string): string {
  return `ctl/owner/${spread(ownerId)}/${VERSIONS}/`
}

export function ownerListingKey(ownerId: string, repositoryId: string): string {
  return `${ownerPrefix(ownerId)}${repositoryId}`
}

/** Entry with the latest changes of a host's repositories, for all processes. It names private ones, too, so it is of the private class. */
export function changesKey(host: string): string {
  return `ctl/changes/prv/${host}`
}

/** Entry with answers of a host that the processes share. @param slot hex digits */
export function sharedAnswersKey(host: string, slot: string): string {
  return `ctl/answers/${host}/${slot}`
}

export const OWNERS_PREFIX = 'ctl/owner/'

/** Whether a key is that of a listing of these versions. */
export function isListingOfOurs(key: string): boolean {
  return key.startsWith(OWNERS_PREFIX) && key.split('/')[4] === VERSIONS
}

/** Key of the header from which a listing was derived; `null` when the key is not that of a listing. */
export function listedHeaderKey(listingKey: string, commit: string): string | null {
  const [, versions, id] = /^ctl\/owner\/[0-9a-f]{3}\/[^/]+\/([^/]+)\/([^/]+)$/.exec(listingKey) ?? []
  return versions === undefined || id === undefined ? null : keysAt(`pub/${spread(id)}`).header({ commit, versions })
}

export const QUEUE_PREFIX = 'ctl/queue/'

/** Prefix of the markers of one repository's jobs. */
export function repositoryQueuePrefix(repository: HostRepository): string {
  return `${QUEUE_PREFIX}${classedPrefix(repository)}/`
}

/** Marker of a waiting job. */
export function queueKey(repository: HostRepository, commit: CommitSha): string {
  return `${repositoryQueuePrefix(repository)}${commit}.${VERSIONS}`
}

/** Whether the marker is for workers of these versions. */
export function isQueueKeyOfOurs(key: string): boolean {
  return key.endsWith(`.${VERSIONS}`)
}

/** Name of the queue in a queue server. Workers of other versions use another queue. */
export function queueName(): string {
  return `index.${VERSIONS}`
}

/** Entry that reports a damaged snapshot. */
export function damageKey(repository: KeyedRepository, commit: CommitSha): string {
  return `ctl/kept/${classedPrefix(repository)}/damage/${commit}.${VERSIONS}`
}

/** Entry of a repository that the host hides. */
export function hiddenKey(repository: KeyedRepository): string {
  return keysAt(classedPrefix(repository)).hidden
}

/** Prefixes of the objects and entries of `probeKeys`. The first also has the objects with which a start tests conditional writes. */
export const PROBE_PREFIXES = ['probe/', 'prv/probe/'] as const
export const PROBE_ENTRY_PREFIXES = ['ctl/ready/probe/', 'ctl/ready/prv/probe/'] as const

/** What a process writes, reads and removes again to learn whether its stores take writes. @param id of the probe */
export function probeKeys(id: string, isPrivate: boolean): { blob: string; entry: string } {
  const name = `${isPrivate ? 'prv/' : ''}probe/${id}`
  return { blob: name, entry: `ctl/ready/${name}` }
}

/** Entry that names the published content of the operator. */
export const OPERATOR_KEY = 'ctl/operator'

/** Entry with the keys that an earlier publication named, and since when. */
export const OPERATOR_UNUSED_KEY = 'ctl/operator-unused'

export const OPERATOR_BLOBS_PREFIX = 'op/'

/** Published content, or a medium of it. @param name the hash of the bytes, with an extension */
export function operatorBlobKey(name: string): string {
  return `${OPERATOR_BLOBS_PREFIX}${name}`
}

/**
 * Entries of people and of what acts for them are of the private class. A sweep removes grants and markers that are over; of people, only the
 * marks of interrupted removals.
 */
export const PEOPLE_PREFIX = 'ctl/people/prv/'
export const SPENT_PREFIX = 'ctl/spent/prv/'

/** Entry of a person: account, sessions, tokens, credential. @param person in hex digits */
export function personKey(person: string): string {
  return `${PEOPLE_PREFIX}${person}`
}

export const GRANTS_PREFIX = 'ctl/grants/prv/'

/** Prefix of one person's grants. */
export function grantsPrefix(person: string): string {
  return `${GRANTS_PREFIX}${person}/`
}

/** Entry of what a person lets one app read. @param grant in hex digits */
export function grantKey(person: string, grant: string): string {
  return `${grantsPrefix(person)}${grant}`
}

/** Marker of a code that was redeemed. @param id in hex digits */
export function spentKey(id: string): string {
  return `${SPENT_PREFIX}${id}`
}

export const SWEEP_LEASE_KEY = 'ctl/sweep/lease'

/** Commit and versions of a snapshot in a key. The versions may differ from those of this build. */
export interface SnapshotName {
  commit: string
  /** See `VERSIONS`. */
  versions: string
}

/** Keys of one repository's data of all versions, for the sweep. @param place as `splitKey` returns it */
export function keysAt(place: string) {
  return {
    header: ({ commit, versions }: SnapshotName) => `${place}/c/${commit}/${versions}`,
    headers: `${place}/c/`,
    pack: (name: string) => `${place}/p/${name}`,
    hidden: `ctl/kept/${place}/hidden`,
    /** Entry with the packs that no snapshot refers to. */
    unusedPacks: `ctl/kept/${place}/unused`,
    queueMarker: ({ commit, versions }: SnapshotName) => `${QUEUE_PREFIX}${place}/${commit}.${versions}`,
  }
}

/** Prefixes of keys that `splitKey` knows. The class of a repository follows: `pub/` or `prv/`. */
export const REPOSITORY_PREFIXES = { objects: '', kept: 'ctl/kept/', jobs: 'ctl/job/', last: 'ctl/last/' } as const
export const REPOSITORY_CLASSES = ['prv', 'pub'] as const

type PartOfSnapshot = 'header' | 'damage' | 'job'

/** The object or entry that a key of a repository names. */
export type KeyPart =
  | { kind: PartOfSnapshot; snapshot: SnapshotName }
  | { kind: 'pack'; name: string }
  | { kind: 'last'; versions: string }
  | { kind: 'hidden' | 'unusedPacks' }

/** Splits a key into the prefix of its repository and the part that it names; `null` when the key belongs to no repository. */
export function splitKey(key: string): { place: string; part: KeyPart } | null {
  const [, area = '', place, rest = ''] = /^(ctl\/(?:kept|job|last)\/)?((?:pub|prv)\/[0-9a-f]{3}\/[^/]+)\/(.+)$/.exec(key) ?? []
  if (place === undefined) return null
  const part = parsePart(area, rest)
  return part && { place, part }
}

function parsePart(area: string, rest: string): KeyPart | null {
  const snapshotAt = (pattern: RegExp): SnapshotName | null => {
    const [, commit, versions] = pattern.exec(rest) ?? []
    return commit === undefined || versions === undefined ? null : { commit, versions }
  }
  const named = (kind: PartOfSnapshot, snapshot: SnapshotName | null) => snapshot && { kind, snapshot }
  if (area === REPOSITORY_PREFIXES.jobs) return named('job', snapshotAt(/^([0-9a-f]{40})\.([^/]+)$/))
  if (area === REPOSITORY_PREFIXES.last) return rest.includes('/') ? null : { kind: 'last', versions: rest }
  if (area === REPOSITORY_PREFIXES.kept) {
    if (rest === 'hidden') return { kind: 'hidden' }
    if (rest === 'unused') return { kind: 'unusedPacks' }
    return named('damage', snapshotAt(/^damage\/([0-9a-f]{40})\.([^/]+)$/))
  }
  const pack = /^p\/([0-9a-f]{40})$/.exec(rest)?.[1]
  if (pack !== undefined) return { kind: 'pack', name: pack }
  return named('header', snapshotAt(/^c\/([0-9a-f]{40})\/([^/]+)$/))
}

/** Versions of reading rules, format and search terms in keys: snapshots of other versions are separate objects. */
export const VERSIONS = `r${RULES_VERSION}f${FORMAT_VERSION}s${SEARCH_VERSION}`

/** The fields of a repository that its keys depend on. */
export type KeyedRepository = Pick<HostRepository, 'id' | 'visibility'>

// Private and public data share no prefix, jobs included: a repository whose visibility changes is indexed again.
function classedPrefix(repository: KeyedRepository): string {
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

/**
 * Whether the key belongs to a private repository. The keys of a repository begin with its class, after the `ctl/` area if any. Those of
 * listings of owners have no class, as only public repositories are listed.
 */
export function isPrivateKey(key: string): boolean {
  return classOf(key) === 'prv'
}

/** Whether all, none or some of the keys with this prefix belong to private repositories. */
export function privateShare(prefix: string): 'all' | 'none' | 'some' {
  const found = classOf(prefix)
  if (found === undefined) return 'some'
  return found === 'prv' ? 'all' : 'none'
}

/** The segment of the class; `undefined` when the key ends before it is complete. */
function classOf(key: string): string | undefined {
  return /^(?:ctl\/[^/]*\/)?(?!ctl\/)([^/]*)\//.exec(key)?.[1]
}
