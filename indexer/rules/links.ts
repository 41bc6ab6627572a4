import { isLink, locate } from '#core/followed-path.ts'
import { LINKED_ENTRIES } from '#core/limits.ts'
import { baseNameOf, isInside, joinPath, MANIFEST_FILE, parentOf, type RepoPath } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import { isRegular, isTooLong, type TreeFile, type TreeFolder } from './tree-file.ts'

/** What the symbolic links of a tree lead to. */
export interface FollowedLinks {
  /**
   * The files, each with a path that a link gives it: that of the link, or one below it where the link leads to a folder. In such a folder also its
   * submodules, and its links that give nothing.
   */
  files: { path: RepoPath; target: TreeFile }[]
  /** The folders below links, each with the folder whose files it has. */
  folders: Map<RepoPath, RepoPath>
  /** Paths that are left out, with all below them, because they exceed the limits of a path. */
  tooLong: RepoPath[]
  /** Paths of links, and of folders below them, that are left out because of `LINKED_ENTRIES`. */
  cut: RepoPath[]
}

type Folders = ReadonlyMap<RepoPath, TreeFolder>
type TextOf = (oid: string) => string | null

/**
 * Follows every symbolic link as a file system does, through other links too, and never out of the tree. A link that leads nowhere, or to a folder that
 * would then hold itself, gives nothing. Folders are given with all of their files or not at all: one of them may be a manifest.
 *
 * @param textOf where a link leads, as its blob says it; `null` when the blob cannot be read
 */
export function followLinks(folders: Folders, textOf: TextOf): FollowedLinks {
  const found: FollowedLinks = { files: [], folders: new Map(), tooLong: [], cut: [] }
  const endOf = createLocator(folders, textOf)
  let left = LINKED_ENTRIES

  /** @param above the folders in which the links lie that were followed to get here */
  function follow(path: RepoPath, link: TreeFile, above: readonly RepoPath[]): void {
    const around = [...above, parentOf(link.path)]
    const end = endOf(link)
    const isFolder = typeof end === 'string'
    // A manifest that is a folder could be read as none: it stays a link, which closes its folder.
    const isStopped = isFolder && (baseNameOf(link.path) === MANIFEST_FILE || around.some(folder => isInside(end, folder)))
    if (end === null || isStopped || (isFolder && !expand(path, end, around))) give(path, link)
    else if (!isFolder) give(path, end)
  }

  /** The length of a path bounds how deep folders and links are nested. @returns whether the folder is given */
  function expand(path: RepoPath, folder: RepoPath, around: readonly RepoPath[]): boolean {
    const { files, folders: names } = folders.get(folder) as TreeFolder
    if (!isWithinLimit(path, files.size + names.length)) return false
    found.folders.set(path, folder)
    for (const [name, file] of files) {
      const below = joinPath(path, name)
      if (isTooLong(below)) found.tooLong.push(below)
      else if (isLink(file)) follow(below, file, around)
      else give(below, file)
    }
    for (const name of names) {
      const below = joinPath(path, name)
      if (isTooLong(below)) found.tooLong.push(below)
      else expand(below, joinPath(folder, name), around)
    }
    return true
  }

  function give(path: RepoPath, target: TreeFile): void {
    if (path !== target.path) found.files.push({ path, target })
  }

  function isWithinLimit(path: RepoPath, entries: number): boolean {
    const isWithin = entries <= left
    if (isWithin) left -= entries
    else found.cut.push(path)
    return isWithin
  }

  for (const link of linksOf(folders)) if (isWithinLimit(link.path, 1)) follow(link.path, link, [])
  return found
}

/** In path order, so that a limit leaves out the same ones wherever the tree was read. */
function linksOf(folders: Folders): TreeFile[] {
  const links = [...folders.values()].flatMap(({ files }) => [...files.values()].filter(isLink))
  return links.sort((left, right) => compareBytes(left.path, right.path))
}

/** Finds the regular file, or the path of the folder, that a link leads to. Memoized. */
function createLocator(folders: Folders, textOf: TextOf): (link: TreeFile) => TreeFile | RepoPath | null {
  const entries = { filesIn: (folder: RepoPath) => folders.get(folder)?.files, textOf }
  const known = new Map<RepoPath, TreeFile | RepoPath | null>()
  return link => {
    const end = known.get(link.path)
    if (end !== undefined) return end
    const located = locate(link.path, entries)
    const found = located === null ? null : 'folder' in located ? located.folder : isRegular(located.file) ? located.file : null
    known.set(link.path, found)
    return found
  }
}
