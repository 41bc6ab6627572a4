import { LINK_HOPS, TREE_DEPTH_SEGMENTS } from './limits.ts'
import { joinPath, parentOf, type RepoPath, ROOT } from './repo-path.ts'

/** A file, submodule or symlink of a tree. */
interface Entry {
  mode: string
  oid: string
  target?: RepoPath
}

/** The tree in which paths are followed. */
export interface Entries<File> {
  /** What lies directly in a folder, without its folders; `undefined`: the folder does not exist. */
  filesIn(folder: RepoPath): ReadonlyMap<string, File> | undefined
  /** Where a symlink leads, by the id of its blob; `null`: it cannot be read; `undefined`: it was not read yet. */
  textOf(oid: string): string | null | undefined
}

/** `file`: a file, a submodule, or a symlink that cannot be read. `path`: where it lies. */
export type Located<File> = { folder: RepoPath } | { file: File; path: RepoPath }

/**
 * Follows a path as a file system does, one segment after another, through at most `LINK_HOPS` symlinks, and never out of the tree.
 *
 * @returns `null` when it leads nowhere, or through a symlink that was not read yet
 */
export function locate<File extends Entry>(start: RepoPath, { filesIn, textOf }: Entries<File>): Located<File> | null {
  let folder: RepoPath = ROOT
  let ahead: string[] = start.split('/')
  for (let hops = 0; ; ) {
    const name = ahead.shift()
    if (name === undefined) return { folder }
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (folder === ROOT) return null
      folder = parentOf(folder)
      continue
    }
    const path = joinPath(folder, name)
    const file = filesIn(folder)?.get(name)
    if (file === undefined) {
      if (filesIn(path) === undefined) return null
      folder = path
    } else if (isLink(file)) {
      const text = textOf(file.oid)
      if (text === null) return { file, path }
      const segments = segmentsOf(text)
      if (segments === null || ++hops > LINK_HOPS) return null
      // A symlink leads from where it lies, also where another one gives it a path.
      folder = parentOf(file.target ?? path)
      ahead = [...segments, ...ahead]
    } else return ahead.length === 0 ? { file, path } : null
  }
}

export function isLink({ mode }: Pick<Entry, 'mode'>): boolean {
  return mode === '120000'
}

/** `null`: it leads out of the repository, or is longer than any path of a tree needs. */
function segmentsOf(text: string | undefined): string[] | null {
  if (text === undefined || text === '' || text.startsWith('/')) return null
  const segments = text.split('/')
  return segments.length <= 2 * TREE_DEPTH_SEGMENTS ? segments : null
}
