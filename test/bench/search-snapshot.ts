import { TREE_ENTRIES } from '#core/limits.ts'
import { indexRepository } from '#indexer/pipeline/index-repository.ts'
import { readTree } from '#indexer/pipeline/read-tree.ts'
import { createSearchBuilder } from '#indexer/search/builder.ts'
import { createSnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { openDiskBlobStore } from '#infra/disk/blob-store.ts'
import { openSource } from '#test/eval/items.ts'
import type { Subject } from './search-subject.ts'

/** Writes the snapshot in whatever time it takes: for machines that are too slow for the limit of a job. */
export async function index({ root, owner, name, store }: Subject): Promise<null> {
  const { host, repository, commit } = await openSource(root, owner, name)
  const blobs = await openDiskBlobStore(store)
  const reader = await host.open(repository, commit, { treeEntries: TREE_ENTRIES, treeDepthSegments: 10_000, seconds: 600 })
  const writer = createSnapshotWriter(blobs, repository, commit)
  const search = createSearchBuilder(writer)
  await indexRepository(writer, await readTree(reader), repository, { search })
  await search.close()
  await reader.close()
  await blobs.close()
  await host.close()
  return null
}
