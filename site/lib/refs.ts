import { type Address, formatAddress } from '#core/address.ts'
import type { RefList } from '#core/contract/refs.ts'
import { compareVersions, readVersionName, type VersionName } from '#core/version-name.ts'
import type { ApiClient } from './api-client.ts'
import { countHidden } from './hidden-characters.ts'
import { naturally } from './natural-order.ts'
import { nearNames } from './near-names.ts'

/** Where the default branch is now. */
export interface Latest {
  branch: string
  commit: string
}

/** A ref as an address spells it, and as a page shows it. */
export interface NearRef {
  ref: string
  name: string
}

/**
 * Where the default branch is now, for a visitor of a pinned commit or of a tag. Another branch has a life of its own.
 *
 * @param address with a ref
 * @returns `null` where the host does not say
 */
export async function findLatest(client: ApiClient, address: Address): Promise<Latest | null> {
  const { ref } = address
  const result = ref === null ? null : await client.get('refs', formatAddress(address), {})
  if (ref === null || !result?.ok) return null
  const { branches, defaultBranch } = result.answer
  const isBranch = branches.some(({ name }) => name === ref || `refs/heads/${name}` === ref)
  const latest = branches.find(({ name }) => name === defaultBranch)
  return isBranch || latest === undefined ? null : { branch: defaultBranch, commit: latest.commit }
}

/** Refs that a visitor may have meant by one that does not exist: those with a similar name. */
export function findNearRefs({ branches, tags }: RefList, ref: string): NearRef[] {
  const names = nearNames(
    [...branches, ...tags].map(({ name }) => name),
    ref,
  )
  return [...new Set(names)].map(name => ({ ref: name, name }))
}

/** The tags of a list, the latest version first, each as an address spells it. */
export function tagsOf({ branches, tags }: RefList): NearRef[] {
  const names = new Set(branches.map(({ name }) => name))
  return tags
    .map(({ name }) => ({ name, version: readVersionName(name) }))
    .sort(compareTags)
    .map(({ name }) => ({ name, ref: names.has(name) ? `refs/tags/${name}` : name }))
}

/**
 * The refs that an address is most likely compared with: the tags, the latest version first, then branches. Without those that are the commit of the
 * address.
 */
export function versionsOf(refs: RefList, { ref }: Address, commit: string): NearRef[] {
  const own = ref ?? refs.defaultBranch
  const same = sameAs(refs, commit)
  const branches = refs.branches.map(({ name }) => ({ ref: name, name }))
  return [...tagsOf(refs), ...branches].filter(one => one.ref !== own && !same.has(one.ref)).slice(0, SHOWN_VERSIONS)
}

/** Whether a list has a version that may be another commit; of no list that is not known. */
export function hasOthers(refs: RefList | null, commit: string): boolean {
  if (refs === null) return true
  const same = sameAs(refs, commit)
  const { defaultBranch, tags, branches } = offeredRefs(refs)
  return [defaultBranch, ...tags, ...branches].some(ref => ref !== null && !same.has(ref))
}

/** The refs that are a commit, as an address spells them. */
function sameAs(refs: RefList, commit: string): ReadonlySet<string> {
  const commits = new Map(refs.tags.map(tag => [tag.name, tag.commit]))
  const tags = tagsOf(refs).filter(({ name }) => commits.get(name) === commit)
  return new Set([...tags.map(({ ref }) => ref), ...refs.branches.filter(one => one.commit === commit).map(({ name }) => name)])
}

const SHOWN_VERSIONS = 10

/** The refs that a form offers, without those with hidden characters, whose names are sent as they stand. */
export interface OfferedRefs {
  /** `null` where the host names no refs. */
  defaultBranch: string | null
  /** The latest version first. */
  tags: string[]
  /** The other ones. */
  branches: string[]
}

export function offeredRefs(refs: RefList | null): OfferedRefs {
  if (refs === null) return { defaultBranch: null, tags: [], branches: [] }
  const { defaultBranch, branches } = refs
  const isVisible = (name: string) => countHidden(name) === 0
  return {
    defaultBranch: isVisible(defaultBranch) ? defaultBranch : null,
    tags: tagsOf(refs)
      .map(({ ref }) => ref)
      .filter(isVisible)
      .slice(0, OFFERED_TAGS),
    branches: branches
      .map(({ name }) => name)
      .filter(name => name !== defaultBranch && isVisible(name))
      .slice(0, OFFERED_BRANCHES),
  }
}

const OFFERED_TAGS = 300
const OFFERED_BRANCHES = 100

/** Tags that are versions come first, those without a prefix before others; of each prefix the latest version first. */
function compareTags(left: Tag, right: Tag): number {
  const [{ version: one }, { version: other }] = [left, right]
  if (one === null || other === null) return Number(one === null) - Number(other === null) || naturally(left.name, right.name)
  return naturally(one.prefix, other.prefix) || compareVersions(other, one) || naturally(right.name, left.name)
}

interface Tag {
  name: string
  version: VersionName | null
}
