import { type Address, atPath, formatAddress } from '#core/address.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import { isShortenedSha } from '#core/commit-sha.ts'
import { type BaseTag, type ComparisonBase, chooseBase } from '#core/comparison-base.ts'
import type { ChangesPage } from '#core/contract/changes.ts'
import type { RefList } from '#core/contract/refs.ts'
import { LIKE_COMMITS } from '#core/limits.ts'
import { ROOT } from '#core/repo-path.ts'
import { readVersionName } from '#core/version-name.ts'
import type { ApiClient } from './api-client.ts'

/** Two commits. `null`: the host does not tell. */
export interface BetweenCommits {
  /** ISO 8601. */
  fromDate: string | null
  toDate: string | null
  /** The commits of the new side that the old one does not have. */
  commits: number | null
  /** Whether both come from one commit. */
  haveCommonCommit: boolean | null
}

/** What pages learn about versions of a repository beside the REST interface, as the visitor may see it. All may throw. */
export interface Versions {
  /** What a comparison begins at that names no older side. */
  baseOf(address: Address): Promise<ComparisonBase>
  /** The commits that a shortened hash may mean. */
  commitsLike(address: Address, hash: string): Promise<readonly string[]>
  between(address: Address, from: string, to: string): Promise<BetweenCommits>
  /** What a comparison begins at, as an address spells it, and whether it is indexed; `null`: nothing. Starts no job. */
  indexedBase(address: Address): Promise<{ ref: string; commit: string; isIndexed: boolean } | null>
  /** The first changes; `null` unless both sides are indexed. Starts no job. */
  changesIfIndexed(address: Address, from: string): Promise<ChangesPage | null>
}

/** What the REST interface alone tells: nothing of histories. */
export function versionsOfClient(client: ApiClient): Versions {
  const refsOf = async (address: Address): Promise<RefList | null> => {
    const result = await client.get('refs', formatAddress(address), {})
    return result.ok ? result.answer : null
  }
  return {
    async baseOf(address) {
      const [mount, refs] = await Promise.all([client.get('mounts', formatAddress(atPath(address, ROOT)), {}), refsOf(address)])
      if (!mount.ok || refs === null) return { kind: 'unknown' }
      const { commit, index } = mount.answer
      const date = (index.status === 'ready' && index.committedAt) || null
      const isDefault = refs.branches.some(branch => branch.name === refs.defaultBranch && branch.commit === commit)
      const shown = { commit: commit as CommitSha, date, isDefault, isAncestor: () => null, parent: undefined }
      return chooseBase(shown, baseTagsOf(refs))
    },
    async commitsLike(address, hash) {
      const refs = isShortenedSha(hash) ? await refsOf(address) : null
      const commits = [...(refs?.branches ?? []), ...(refs?.tags ?? [])].flatMap(({ commit }) => commit ?? [])
      return [...new Set(commits)].filter(commit => commit.startsWith(hash.toLowerCase())).slice(0, LIKE_COMMITS)
    },
    async between(address, from, to) {
      const tags = (await refsOf(address))?.tags ?? []
      const dateOf = (commit: string) => tags.find(tag => tag.commit === commit)?.date ?? null
      return { fromDate: dateOf(from), toDate: dateOf(to), commits: null, haveCommonCommit: null }
    },
    indexedBase: async () => null,
    changesIfIndexed: async () => null,
  }
}

function baseTagsOf({ branches, tags }: RefList): BaseTag[] {
  const names = new Set(branches.map(({ name }) => name))
  return tags.flatMap(({ name, commit, date = null }): BaseTag[] => {
    if (commit === undefined) return []
    const ref = names.has(name) ? `refs/tags/${name}` : name
    return [{ ref, commit: commit as CommitSha, date, version: readVersionName(name) }]
  })
}
