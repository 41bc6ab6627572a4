import type { Address } from '#core/address.ts'
import type { CommitGraph } from '#core/commit-graph.ts'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import type { RefList } from '#core/contract/refs.ts'
import { LISTED_REFS } from '#core/limits.ts'
import type { GitHost, HostRefs, HostRepository } from '#core/ports/git-host.ts'
import { compareBytes } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import type { Viewer } from '../people/viewer.ts'
import { openRepository, requireValue } from './open-mount.ts'

/**
 * The branches and tags of the repository of an address. The ref and the folder of the address play no part.
 *
 * @throws ServiceError `address.unknown_host`, `mount.*`
 */
export async function listRefs(deps: Deps, viewer: Viewer, address: Address): Promise<RefList> {
  const { host, repository } = await openRepository(deps, viewer, address)
  const { refs, known } = await readRefs(host, repository)
  const branches = namesBelow(refs.keys(), HEADS)
  const tags = namesBelow(refs.keys(), TAGS)
  return {
    defaultBranch: repository.defaultBranch,
    branches: first(branches, repository.defaultBranch).map(name => ({ name, commit: refs.get(HEADS + name) as CommitSha })),
    tags: first(tags).map(name => ({ name, ...targetOf(refs.get(TAGS + name) ?? '', known) })),
    truncated: branches.length > LISTED_REFS || tags.length > LISTED_REFS,
  }
}

/** What a host knows of its branches and tags. */
export interface KnownRefs {
  refs: HostRefs
  /** `undefined`: the host does not list its commits. `null`: it cannot list them now. */
  known: CommitGraph | null | undefined
}

/** @throws ServiceError `mount.*` */
export async function readRefs(host: GitHost, repository: HostRepository): Promise<KnownRefs> {
  const [listed, known] = await Promise.all([host.refs(repository), host.commits?.(repository)])
  const refs = requireValue(listed, 'mount.repo_not_found')
  return { refs, known: known && (known.status === 'ok' ? known.value : null) }
}

/** Where a tag leads. A host that does not list its commits lists tags as what they lead to. @param oid as the host lists it */
export function targetOf(oid: string, known: KnownRefs['known']): { commit?: CommitSha; date?: string } {
  if (known === undefined) return { commit: oid as CommitSha }
  const commit = known?.commitOf(oid) ?? null
  if (commit === null) return {}
  const date = known?.dateOf(commit) ?? null
  return date === null ? { commit } : { commit, date }
}

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'

/** Without names that an address could only spell as a commit. */
function namesBelow(names: Iterable<string>, folder: string): string[] {
  return [...names]
    .filter(name => name.startsWith(folder) && !isCommitSha(name.slice(folder.length)))
    .map(name => name.slice(folder.length))
    .sort(compareBytes)
}

/** The first names, and `always` if there is one like it. */
function first(names: readonly string[], always?: string): string[] {
  const shown = names.slice(0, LISTED_REFS)
  if (always === undefined || shown.includes(always) || !names.includes(always)) return shown
  return [...shown.slice(0, -1), always].sort(compareBytes)
}
