import { LRUCache } from 'lru-cache'
import type { Address } from '#core/address.ts'
import { isCommitSha } from '#core/commit-sha.ts'
import { type BaseTag, type ComparisonBase, chooseBase } from '#core/comparison-base.ts'
import { COMPARED_TAGS } from '#core/limits.ts'
import { entriesAtMost } from '#core/memory.ts'
import type { HostRefs } from '#core/ports/git-host.ts'
import { compareVersions, readVersionName, type VersionName } from '#core/version-name.ts'
import type { Deps } from '../deps.ts'
import type { Viewer } from '../people/viewer.ts'
import { readRefs, targetOf } from './list-refs.ts'
import { type ResolvedMount, resolveMount } from './open-mount.ts'

/**
 * What a page compares with that names no older side.
 *
 * @throws ServiceError `address.unknown_host`, `mount.*`, `auth.*`
 */
export async function findBase(deps: Deps, viewer: Viewer, address: Address): Promise<ComparisonBase> {
  const mount = await resolveMount(deps, viewer, address)
  const { host, repository, commit } = mount
  const { refs, known } = await readRefs(host, repository)
  const key = `${commit} ${repository.defaultBranch}`
  const kept = keptBases.get(refs)?.get(key)
  if (kept) return kept
  const ancestors = known?.ancestorsOf(commit)
  const shown = {
    commit,
    date: known?.dateOf(commit) ?? null,
    isDefault: isTipOfDefault(mount, refs),
    isAncestor: ancestors?.has ?? (() => null),
  }
  const tags = tagsOf(refs).map(({ oid, ...tag }) => ({ ...tag, ...targetOf(oid, known) }))
  const compared = tags.flatMap(({ commit, date = null, ...tag }): BaseTag[] => (commit ? [{ ...tag, commit, date }] : []))
  const chosen = chooseBase({ ...shown, parent: known?.parentOf(commit) }, compared)
  // The parent costs a question where the host does not list its commits.
  const base = chosen.kind === 'unknown' && known === undefined ? await askParent(mount) : chosen
  // What a host does not say now it may say later.
  if (known !== null && base.kind !== 'unknown') keepBase(refs, key, base)
  return base
}

/** The bases of commits, by the lists of refs, which hosts cache: each overview asks for one, and a history takes some milliseconds. */
const keptBases = new WeakMap<HostRefs, LRUCache<string, ComparisonBase>>()
const BASES = 50

function keepBase(refs: HostRefs, key: string, base: ComparisonBase): void {
  const bases = keptBases.get(refs) ?? new LRUCache(entriesAtMost(BASES))
  bases.set(key, base)
  keptBases.set(refs, bases)
}

function isTipOfDefault({ repository, commit }: ResolvedMount, refs: HostRefs): boolean {
  return refs.get(`refs/heads/${repository.defaultBranch}`) === commit
}

async function askParent({ host, repository, commit }: ResolvedMount): Promise<ComparisonBase> {
  const answer = await host.parent?.(repository, commit)
  if (answer?.status !== 'ok') return { kind: 'unknown' }
  return answer.value === null ? { kind: 'first' } : { kind: 'parent', commit: answer.value }
}

interface ReadTag {
  ref: string
  version: VersionName | null
  oid: string
}

/** The tags of lists of refs, which hosts cache. */
const readLists = new WeakMap<HostRefs, readonly ReadTag[]>()

/** The tags that a comparison may begin at: of very many, those with the highest versions. */
function tagsOf(refs: HostRefs): readonly ReadTag[] {
  const known = readLists.get(refs)
  if (known) return known
  const tags = [...refs].flatMap(([name, oid]): ReadTag[] => {
    if (!name.startsWith(TAGS)) return []
    const short = name.slice(TAGS.length)
    // A name that an address could only spell as a commit has its full form.
    const isTaken = refs.has(`refs/heads/${short}`) || isCommitSha(short)
    return [{ ref: isTaken ? name : short, version: readVersionName(short), oid }]
  })
  const read = tags.length > COMPARED_TAGS ? tags.sort((left, right) => byVersion(right, left)).slice(0, COMPARED_TAGS) : tags
  readLists.set(refs, read)
  return read
}

const TAGS = 'refs/tags/'

function byVersion({ version: left }: ReadTag, { version: right }: ReadTag): number {
  return left && right ? compareVersions(left, right) : Number(left !== null) - Number(right !== null)
}
