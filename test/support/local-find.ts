import { findInMount } from '#api/reading/find.ts'
import { RankingBuffers } from '#api/search/ranking.ts'
import { createSnapshotReader } from '#api/snapshot/snapshot-reader.ts'
import type { CommitSha } from '#core/commit-sha.ts'
import type { FoundItem } from '#core/contract/find.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { GitHost, HostRepository } from '#core/ports/git-host.ts'
import { ROOT } from '#core/repo-path.ts'
import type { SnapshotHeader } from '#core/snapshot/format.ts'

/** A repository at one commit. */
export interface Source {
  host: GitHost
  repository: HostRepository
  commit: CommitSha
}

export interface LocalFind {
  header: SnapshotHeader
  /** The first page. */
  find(query: string, limit: number): Promise<FoundItem[]>
}

/** Search over a snapshot that is in the store, without a server: a reader that knows nothing yet but the header. */
export async function openLocalFind(blobs: BlobStore, { host, repository, commit }: Source): Promise<LocalFind> {
  const snapshot = await createSnapshotReader(blobs).open(repository, commit)
  if (snapshot === null) throw new Error(`${repository.id} is not indexed at ${commit}`)
  const { header } = snapshot
  const address = { host: host.segment, owner: repository.owner, repository: repository.name, ref: null, path: ROOT }
  const { folder } = header.root
  const mount = { status: 'ready', address, host, repository, commit, pinned: false, isDefault: true, snapshot, folder } as const
  const deps = { cursorKeys: [KEY] as const, rankingBuffers: new RankingBuffers() }
  return {
    header,
    find: async (query, limit) => (await findInMount(deps, mount, { query, limit })).items,
  }
}

const KEY = new Uint8Array(32)
