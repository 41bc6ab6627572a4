import type { CommitSha } from '../commit-sha.ts'
import type { HostRepository } from '../ports/git-host.ts'
import { FORMAT_VERSION, RULES_VERSION, SEARCH_VERSION } from './versions.ts'

/** The only place where an object key is spelled. The class comes first, then a hash that spreads the load of a store. */

export function headerKey(repository: HostRepository, commit: CommitSha): string {
  return `${classedPrefix(repository)}/c/${commit}/${VERSIONS}`
}

export function packKey(repository: HostRepository, packName: string): string {
  return `${classedPrefix(repository)}/p/${packName}`
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

export const OWNERS_PREFIX = 'ctl/owner/'

/** The header beside which an owner's listing stands; `null` for a key that is none of a listing. */
export function listedHeaderKey(listingKey: string, commit: string): string | null {
  const [, versions, id] = /^ctl\/owner\/[0-9a-f]{3}\/[^/]+\/([^/]+)\/([^/]+)$/.exec(listingKey) ?? []
  return versions === undefined || id === undefined ? null : keysAt(`pub/${spread(id)}`).header({ commit, versions })
}

export const QUEUE_PREFIX = 'ctl/queue/'

/** Marker of a waiting job. */
export function queueKey(repository: HostRepository, commit: CommitSha): string {
  return `${QUEUE_PREFIX}${classedPrefix(repository)}/${commit}.${VERSIONS}`
}

/** Whether workers of these reading rules take the job of a marker. */
export function isQueueKeyOfOurs(key: string): boolean {
  return key.endsWith(`.${VERSIONS}`)
}

/** Queue of a queue server. Workers of other reading rules have another one: what these can do, those cannot. */
export function queueName(): string {
  return `index.${VERSIONS}`
}

/** Day on which a snapshot was opened last. */
export function readMarkKey(repository: KeyedRepository, commit: CommitSha): string {
  return keysAt(classedPrefix(repository)).readMark({ commit, versions: VERSIONS })
}

/** What readers found of a snapshot that is damaged. */
export function damageKey(repository: KeyedRepository, commit: CommitSha): string {
  return `ctl/kept/${classedPrefix(repository)}/damage/${commit}.${VERSIONS}`
}

/** Where a ref pointed when it was opened last. @param digest of the ref's name, hex: names hold what keys cannot */
export function seenRefKey(repository: KeyedRepository, digest: string): string {
  return `ctl/kept/${classedPrefix(repository)}/ref/${digest}`
}

/** Since when the host does not show the repository. */
export function hiddenKey(repository: KeyedRepository): string {
  return keysAt(classedPrefix(repository)).hidden
}

export const SWEEP_LEASE_KEY = 'ctl/sweep/lease'

/** A snapshot of a repository, as keys name it: the versions may be others than those of this build. */
export interface SnapshotName {
  commit: string
  /** See `VERSIONS`. */
  versions: string
}

/** Keys of one repository's data of all versions, for whoever tidies it. @param place as `splitKey` gives it */
export function keysAt(place: string) {
  return {
    header: ({ commit, versions }: SnapshotName) => `${place}/c/${commit}/${versions}`,
    headers: `${place}/c/`,
    pack: (name: string) => `${place}/p/${name}`,
    readMark: ({ commit, versions }: SnapshotName) => `ctl/kept/${place}/read/${commit}.${versions}`,
    hidden: `ctl/kept/${place}/hidden`,
    /** Packs that no snapshot refers to, with the instants at which that was found. */
    unusedPacks: `ctl/kept/${place}/unused`,
    queueMarker: ({ commit, versions }: SnapshotName) => `${QUEUE_PREFIX}${place}/${commit}.${versions}`,
  }
}

/** Prefixes of keys that `splitKey` knows. The class of a repository follows: `pub/` or `prv/`. */
export const REPOSITORY_PREFIXES = { objects: '', kept: 'ctl/kept/', jobs: 'ctl/job/', last: 'ctl/last/' } as const
export const REPOSITORY_CLASSES = ['prv', 'pub'] as const

type PartOfSnapshot = 'header' | 'readMark' | 'damage' | 'job'

/** What a key of a repository names. */
export type KeyPart =
  | { kind: PartOfSnapshot; snapshot: SnapshotName }
  | { kind: 'pack'; name: string }
  | { kind: 'last'; versions: string }
  | { kind: 'ref' | 'hidden' | 'unusedPacks' }

/** The repository that a key is of, as its place among all keys, and what it names of it; `null` for every other key. */
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
    if (/^ref\/[0-9a-f]+$/.test(rest)) return { kind: 'ref' }
    return (
      named('readMark', snapshotAt(/^read\/([0-9a-f]{40})\.([^/]+)$/)) ??
      named('damage', snapshotAt(/^damage\/([0-9a-f]{40})\.([^/]+)$/))
    )
  }
  const pack = /^p\/([0-9a-f]{40})$/.exec(rest)?.[1]
  if (pack !== undefined) return { kind: 'pack', name: pack }
  return named('header', snapshotAt(/^c\/([0-9a-f]{40})\/([^/]+)$/))
}

/** Snapshots of other reading rules, another format or other search terms are other objects. */
export const VERSIONS = `r${RULES_VERSION}f${FORMAT_VERSION}s${SEARCH_VERSION}`

/** What of a repository stands in keys. */
type KeyedRepository = Pick<HostRepository, 'id' | 'visibility'>

// What is private shares no prefix with what is public, jobs included: a repository that changes from one to the other starts anew.
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
