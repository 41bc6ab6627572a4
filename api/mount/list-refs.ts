import type { Address } from '#core/address.ts'
import type { CommitGraph } from '#core/commit-graph.ts'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import type { RefList } from '#core/contract/refs.ts'
import { LISTED_REFS } from '#core/limits.ts'
import type { HostAnswer } from '#core/ports/git-host.ts'
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
  const [listed, known] = await Promise.all([host.refs(repository), host.commits?.(repository)])
  const refs = requireValue(listed, 'mount.repo_not_found')
  const branches = namesBelow(refs.keys(), HEADS)
  const tags = namesBelow(refs.keys(), TAGS)
  return {
    defaultBranch: repository.defaultBranch,
    branches: first(branches, repository.defaultBranch).map(name => ({ name, commit: refs.get(HEADS + name) as CommitSha })),
    tags: first(tags).map(name => ({ name, ...targetOf(refs.get(TAGS + name) ?? '', known) })),
    truncated: branches.length > LISTED_REFS || tags.length > LISTED_REFS,
  }
}

/** Where a tag leads. A host that does not list its commits lists tags as what they lead to. @param oid as the host lists it */
function targetOf(oid: string, known: HostAnswer<CommitGraph> | undefined): Pick<RefList['tags'][number], 'commit' | 'date'> {
  if (known === undefined) return { commit: oid as CommitSha }
  const commit = known.status === 'ok' ? known.value.commitOf(oid) : null
  if (known.status !== 'ok' || commit === null) return {}
  const date = known.value.dateOf(commit)
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
