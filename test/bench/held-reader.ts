import { READABLE_FILE_BYTES, TREE_ENTRIES } from '#core/limits.ts'
import type { RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import type { Source } from '#test/support/local-find.ts'

/** A reader of a repository that is in memory: what git and its process take is spent. */
export async function holdRepository({ host, repository, commit }: Source): Promise<RepositoryReader> {
  const reader = await host.open(repository, commit, { treeEntries: TREE_ENTRIES, treeDepthSegments: 10_000, seconds: 600 })
  const entries: TreeEntry[] = []
  for await (const entry of reader.entries()) entries.push(entry)
  const blobs = new Map<string, Uint8Array | null>()
  const oids = entries.flatMap(entry => (entry.sizeBytes === null ? [] : [entry.oid]))
  for await (const { oid, bytes } of reader.read(oids, READABLE_FILE_BYTES)) blobs.set(oid, bytes)
  await reader.close()
  return {
    cut: false,
    async *entries() {
      yield* entries
    },
    async *read(wanted) {
      for (const oid of wanted) yield { oid, bytes: blobs.get(oid) ?? null }
    },
    close: async () => {},
  }
}
