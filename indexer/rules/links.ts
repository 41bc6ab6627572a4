import { LINK_HOPS, LINKED_ENTRIES, TREE_DEPTH_SEGMENTS } from '#core/limits.ts'
import { baseNameOf, isInside, joinPath, MANIFEST_FILE, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import { isRegular, type TreeFile, type TreeFolder } from './tree-file.ts'

/** What the symbolic links of a tree lead to. */
export interface FollowedLinks {
  /** The regular files, each with a path that a link gives it: that of the link, or one below it where the link leads to a folder. */
  files: { path: RepoPath; target: TreeFile }[]
  /** The folders below links, each with the folder whose files it has. */
  folders: Map<RepoPath, RepoPath>
  /** Whether a limit left files out. */
  cut: boolean
}

type Folders = ReadonlyMap<RepoPath, TreeFolder>
type TextOf = (oid: string) => string | null

/**
 * Follows every symbolic link as a file system does, through other links too, and never out of the tree. A link that leads nowhere, or to a folder that
 * would then hold itself, gives nothing.
 *
 * @param textOf where a link leads, as its blob says it; `null` when the blob cannot be read
 */
export function followLinks(folders: Folders, textOf: TextOf): FollowedLinks {
  const found: FollowedLinks = { files: [], folders: new Map(), cut: false }
  const endOf = createLocator(folders, textOf)
  let left = LINKED_ENTRIES

  /** @param above the folders in which the links lie that were followed to get here */
  function follow(path: RepoPath, link: TreeFile, above: readonly RepoPath[]): void {
    if (!isWithinLimit()) return
    const end = endOf(link)
    if (end === null) return
    if (typeof end !== 'string') {
      give(path, end)
      return
    }
    // A manifest that is a folder could be read as none: it stays a link, which closes its folder.
    if (baseNameOf(link.path) === MANIFEST_FILE) return
    const around = [...above, parentOf(link.path)]
    if (!around.some(folder => isInside(end, folder))) expand(path, end, around)
  }

  function expand(path: RepoPath, folder: RepoPath, around: readonly RepoPath[]): void {
    if (!isWithinLimit()) return
    found.folders.set(path, folder)
    const { files, folders: names } = folders.get(folder) as TreeFolder
    for (const [name, file] of files) {
      if (isLink(file)) follow(joinPath(path, name), file, around)
      else if (isRegular(file) && isWithinLimit()) give(joinPath(path, name), file)
    }
    for (const name of names) expand(joinPath(path, name), joinPath(folder, name), around)
  }

  function give(path: RepoPath, target: TreeFile): void {
    if (target.sizeBytes !== null) found.files.push({ path, target })
  }

  function isWithinLimit(): boolean {
    if (left > 0) left--
    else found.cut = true
    return !found.cut
  }

  for (const link of linksOf(folders)) follow(link.path, link, [])
  return found
}

/** In path order, so that a limit leaves out the same ones wherever the tree was read. */
function linksOf(folders: Folders): TreeFile[] {
  const links = [...folders.values()].flatMap(({ files }) => [...files.values()].filter(isLink))
  return links.sort((left, right) => compareBytes(left.path, right.path))
}

function isLink({ mode }: TreeFile): boolean {
  return mode === '120000'
}

/** Finds the regular file, or the path of the folder, that a link leads to. Memoized. */
function createLocator(folders: Folders, textOf: TextOf): (link: TreeFile) => TreeFile | RepoPath | null {
  const known = new Map<RepoPath, TreeFile | RepoPath | null>()
  return link => {
    const end = known.get(link.path)
    if (end !== undefined) return end
    const located = locate(link, folders, textOf)
    known.set(link.path, located)
    return located
  }
}

function locate(link: TreeFile, folders: Folders, textOf: TextOf): TreeFile | RepoPath | null {
  let folder: RepoPath = ROOT
  let ahead: string[] = link.path.split('/')
  for (let hops = 0; ; ) {
    const name = ahead.shift()
    if (name === undefined) return folder
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (folder === ROOT) return null
      folder = parentOf(folder)
      continue
    }
    const file = folders.get(folder)?.files.get(name)
    if (file === undefined) {
      folder = joinPath(folder, name)
      if (!folders.has(folder)) return null
    } else if (isLink(file)) {
      const segments = segmentsOf(textOf(file.oid))
      if (segments === null || ++hops > LINK_HOPS) return null
      ahead = [...segments, ...ahead]
    } else return ahead.length === 0 && isRegular(file) ? file : null
  }
}

/** `null`: it leads out of the repository, or is longer than any path of a tree needs. */
function segmentsOf(text: string | null): string[] | null {
  if (text === null || text === '' || text.startsWith('/')) return null
  const segments = text.split('/')
  return segments.length <= 2 * TREE_DEPTH_SEGMENTS ? segments : null
}
