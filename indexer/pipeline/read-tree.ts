import type { RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import type { RepositoryTree } from '../reuse/repository-tree.ts'
import { IndexError } from './index-error.ts'
import type { Progress } from './progress.ts'

/** @throws IndexError `index.too_large` when the reader cut the tree, or ReadError */
export async function readTree(
  reader: RepositoryReader,
  onProgress: (progress: Progress) => void = () => {},
): Promise<RepositoryTree> {
  const entries: TreeEntry[] = []
  for await (const entry of reader.entries()) {
    if (entries.push(entry) % 10_000 === 0) onProgress({ stage: 'tree', done: entries.length, total: null })
  }
  // An entry after the cut may be a manifest that excludes earlier ones: no part of a cut tree can be served.
  if (reader.cut) throw new IndexError('index.too_large', `more than ${entries.length} tree entries`)
  onProgress({ stage: 'tree', done: entries.length, total: entries.length })
  return { entries, read: (oids, maxBytes) => reader.read(oids, maxBytes) }
}
