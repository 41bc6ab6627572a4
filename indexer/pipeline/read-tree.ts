import { READABLE_FILE_BYTES, UNREAD_PACKAGED_BYTES } from '#core/limits.ts'
import type { BlobSelection, BlobUse, RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import { ancestorsOf, MANIFEST_FILE, parentOf, type RepoPath, SKILL_FILE } from '#core/repo-path.ts'
import { isBinaryName, isSkillPlace, pathKind } from '../rules/content-kind.ts'
import type { RepositoryTree } from '../snapshot/repository-tree.ts'
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

/**
 * The blobs that indexing needs. It may read any text file, since a skill or document may link to it. It needs the size of binary files in
 * repositories with skills or manifests, which list them, and of files with a known name, for example `LICENSE.pdf`. Their bytes it needs
 * where they are part of a skill that clients can install, which sizes and licenses decide.
 */
export const INDEXED_BLOBS: BlobSelection = {
  maxBytes: READABLE_FILE_BYTES,
  perhapsBytes: UNREAD_PACKAGED_BYTES,
  usesOf(files) {
    const hasListingFile = files.some(({ path }) => path !== null && LISTING_FILES.has(path.slice(path.lastIndexOf('/') + 1)))
    const skillFolders = new Set(
      files.flatMap(({ path }) => (path !== null && isSkillPlace(path as RepoPath) ? [parentOf(path as RepoPath)] : [])),
    )
    return files.map(({ path, mode }): BlobUse => {
      if (path === null || mode === '160000') return 'nothing'
      if (mode === '120000' || !isBinaryName(path)) return 'bytes'
      if (skillFolders.size > 0 && ancestorsOf(path as RepoPath).some(folder => skillFolders.has(folder))) return 'perhaps'
      return hasListingFile || pathKind(path as RepoPath) !== null ? 'size' : 'nothing'
    })
  },
}

/**
 * The entries without sizes that the selection does not need. Hosts and earlier snapshots may know them, and a snapshot must not depend on
 * that.
 */
export function withAskedSizes(entries: readonly TreeEntry[]): TreeEntry[] {
  const uses = INDEXED_BLOBS.usesOf(entries)
  return entries.map((entry, index) => (uses[index] === 'nothing' ? { ...entry, sizeBytes: null } : entry))
}

const LISTING_FILES = new Set([SKILL_FILE, MANIFEST_FILE])
