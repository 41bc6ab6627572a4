import { PATH_BYTES, TREE_DEPTH_SEGMENTS } from '#core/limits.ts'
import type { TreeEntry } from '#core/ports/git-host.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { utf8Length } from '#core/text.ts'

/** A file or submodule of the repository, or a symlink that leads to no file of it. */
export interface TreeFile {
  path: RepoPath
  mode: TreeEntry['mode']
  oid: string
  /** `null` when the blob is missing. */
  sizeBytes: number | null
  /** Where its bytes lie, if a symlink gives the file this path. */
  target?: RepoPath
}

export interface TreeFolder {
  path: RepoPath
  /** Base names, in byte order. */
  folders: string[]
  files: Map<string, TreeFile>
  /** The folder whose files it has, if a symlink gives it this path. */
  target?: RepoPath
}

export function isRegular(file: TreeFile): boolean {
  return file.mode === '100644' || file.mode === '100755'
}

export function isTooLong(path: RepoPath): boolean {
  return path.split('/').length > TREE_DEPTH_SEGMENTS || utf8Length(path) > PATH_BYTES
}
