import { foldPath } from '#core/path-fold.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { Tree } from './tree.ts'
import type { Policy } from './withheld.ts'

/** An existing path that a link almost names. */
export interface NearPath {
  path: RepoPath
  /** `separator`: it is written with backslashes. `normalization`: the characters look the same and are encoded otherwise. */
  difference: 'separator' | 'case' | 'normalization'
}

/**
 * The path of the tree that differs in upper and lower case or in Unicode normalization alone, or not at all.
 *
 * @param path with slashes; `null`: it leads out of the repository
 */
export function nearPath(path: RepoPath | null, tree: Tree, policy: Policy): NearPath | null {
  if (path === null || path === '') return null
  const found = pathsByFold(tree).get(foldPath(path))
  if (found === undefined || policy.reasonOf(found) !== null) return null
  if (found === path) return { path: found, difference: 'separator' }
  return { path: found, difference: found.normalize() === path.normalize() ? 'normalization' : 'case' }
}

const known = new WeakMap<Tree, ReadonlyMap<string, RepoPath>>()

/** Built for the first link that leads to nothing. Of paths that fold alike the first one counts. */
function pathsByFold(tree: Tree): ReadonlyMap<string, RepoPath> {
  const paths = known.get(tree) ?? foldPaths(tree)
  known.set(tree, paths)
  return paths
}

function foldPaths({ folders }: Tree): Map<string, RepoPath> {
  const paths = new Map<string, RepoPath>()
  for (const folder of folders.values()) {
    for (const { path } of [folder, ...folder.files.values()]) {
      const folded = foldPath(path)
      if (!paths.has(folded)) paths.set(folded, path)
    }
  }
  return paths
}
