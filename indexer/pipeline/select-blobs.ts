import { READABLE_FILE_BYTES } from '#core/limits.ts'
import type { BlobSelection, BlobUse, TreeEntry } from '#core/ports/git-host.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { isBinaryName, pathKind } from '../rules/content-kind.ts'
import { MANIFEST_FILE } from '../rules/manifest.ts'
import { SKILL_FILE } from '../rules/skill.ts'

/**
 * What indexing will ask of the blobs. Any text may be asked for, since a skill or a document may link to it. Of what is no text
 * by its name the size is told, where there are skills or manifests to list it, or it is known by its name: `LICENSE.pdf`.
 */
export const INDEXED_BLOBS: BlobSelection = {
  maxBytes: READABLE_FILE_BYTES,
  usesOf(files) {
    const hasListings = files.some(({ path }) => path !== null && LISTERS.has(path.slice(path.lastIndexOf('/') + 1)))
    return files.map(({ path, mode }): BlobUse => {
      if (path === null || mode === '160000') return 'nothing'
      if (mode === '120000' || !isBinaryName(path)) return 'bytes'
      return hasListings || pathKind(path as RepoPath) !== null ? 'size' : 'nothing'
    })
  },
}

/**
 * The entries without the sizes that nobody asked for. Some hosts tell them all the same, and an earlier commit may: what is said of a
 * commit depends on neither.
 */
export function withAskedSizes(entries: readonly TreeEntry[]): TreeEntry[] {
  const uses = INDEXED_BLOBS.usesOf(entries)
  return entries.map((entry, index) => (uses[index] === 'nothing' ? { ...entry, sizeBytes: null } : entry))
}

const LISTERS = new Set([SKILL_FILE, MANIFEST_FILE])
