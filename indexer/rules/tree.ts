import { isLink, locate } from '#core/followed-path.ts'
import { LINKED_ENTRIES, PATH_BYTES, TREE_DEPTH_SEGMENTS } from '#core/limits.ts'
import type { TreeEntry } from '#core/ports/git-host.ts'
import { baseNameOf, isInside, isPathSegment, joinPath, MANIFEST_FILE, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { compareBytes, utf8Length } from '#core/text.ts'
import { type Finding, finding } from '#words/findings.ts'

/** The whole tree of a commit, by canonical path. */
export interface Tree {
  folders: ReadonlyMap<RepoPath, TreeFolder>
  file(path: RepoPath): TreeFile | null
  /** Where a symlink leads that gives nothing: the path of a folder or submodule; `null`: to none, or it is not known. */
  endOf(link: RepoPath): RepoPath | null
  /** Entries with too long or too deep paths were left out. */
  cut: boolean
  /** Whether entries that were left out may lie below the folder. */
  isPartial(folder: RepoPath): boolean
  diagnostics: DiagnosticRow[]
}

/**
 * Builds the tree, in which symlinks are the files and folders that they lead to. Entries whose names no canonical path can hold, or whose paths exceed
 * a limit, are left out with a diagnostic.
 *
 * @param linkTexts where symlinks lead, by the ids of their blobs
 */
export function buildTree(entries: Iterable<TreeEntry>, linkTexts: ReadonlyMap<string, string> = new Map()): Tree {
  const folders = createFolders()
  const diagnostics: DiagnosticRow[] = []
  const partial = createPartialFolders()
  let invalid = 0
  let cut = 0
  for (const entry of entries) {
    const segments = entry.path?.split('/')
    if (!segments?.every(isTreeSegment)) {
      invalid++
      partial.add(segments ?? null)
      continue
    }
    const path = entry.path as RepoPath
    if (isTooLong(path)) {
      cut++
      partial.add(segments)
      continue
    }
    folders.add({ path, mode: entry.mode, oid: entry.oid, sizeBytes: entry.sizeBytes })
    if (entry.mode === '160000') diagnostics.push(submodule(path))
  }
  // Sorted first, so that a limit leaves out the same files wherever the tree was read.
  const byPath = folders.sorted()
  const links = followLinks(byPath, oid => linkTexts.get(oid) ?? null)
  for (const [path, target] of links.folders) if (partial.has(target)) partial.add(`${path}/`.split('/'))
  for (const path of [...links.tooLong, ...links.cut]) partial.add(path.split('/'))
  cut += links.tooLong.length
  folders.addLinked(links)
  const isLinkCut = links.cut.length > 0
  return {
    folders: byPath,
    file: path => byPath.get(parentOf(path))?.files.get(baseNameOf(path)) ?? null,
    endOf: link => links.ends.get(link) ?? null,
    cut: cut > 0 || isLinkCut,
    isPartial: partial.has,
    diagnostics: [...diagnostics, ...leftOut(invalid, cut), ...(isLinkCut ? [tooManyLinked()] : [])],
  }
}

interface Folders {
  add(file: TreeFile): void
  /** Puts what symlinks lead to in their place, in order. */
  addLinked(links: Pick<FollowedLinks, 'files' | 'folders'>): void
  /** By path, each with its files and folders in order. */
  sorted(): Map<RepoPath, TreeFolder>
}

/** The folders of a tree, created as files are added. Of files with the same path the first one counts. */
function createFolders(): Folders {
  const folders = new Map<RepoPath, TreeFolder>([[ROOT, { path: ROOT, folders: [], files: new Map() }]])

  function folderAt(path: RepoPath): TreeFolder {
    const known = folders.get(path)
    if (known) return known
    const folder: TreeFolder = { path, folders: [], files: new Map() }
    folders.set(path, folder)
    folderAt(parentOf(path)).folders.push(baseNameOf(path))
    return folder
  }

  return {
    add(file) {
      const { files } = folderAt(parentOf(file.path))
      if (!files.has(baseNameOf(file.path))) files.set(baseNameOf(file.path), file)
    },
    addLinked(links) {
      if (links.files.length === 0) return
      for (const { path, target } of links.files)
        folderAt(parentOf(path)).files.set(baseNameOf(path), { ...target, path, target: target.path })
      for (const [path, target] of links.folders) {
        const folder = folders.get(path)
        if (folder === undefined) continue
        folder.target = target
        // The link itself.
        folderAt(parentOf(path)).files.delete(baseNameOf(path))
      }
      sortAll(folders)
    },
    sorted() {
      sortAll(folders)
      return folders
    },
  }
}

function sortAll(folders: ReadonlyMap<RepoPath, TreeFolder>): void {
  for (const folder of folders.values()) {
    folder.folders.sort(compareBytes)
    folder.files = new Map([...folder.files].sort(([left], [right]) => compareBytes(left, right)))
  }
}

/** The folders above entries that are left out. An entry whose path is not text may lie in any folder, so all of them count. */
function createPartialFolders() {
  const folders = new Set<string>()
  let isAnywhere = false
  return {
    add(segments: readonly string[] | null): void {
      if (segments === null) isAnywhere = true
      for (let length = 0; length < (segments?.length ?? 0); length++) folders.add(segments?.slice(0, length).join('/') ?? '')
    },
    has: (folder: RepoPath) => isAnywhere || folders.has(folder),
  }
}

function leftOut(invalid: number, cut: number): DiagnosticRow[] {
  const names = finding('tree.invalid_name', { n: invalid })
  const limits = finding('tree.limit', { n: cut, byteLimit: PATH_BYTES, segmentLimit: TREE_DEPTH_SEGMENTS })
  return [...(invalid > 0 ? [treeDiagnostic(names)] : []), ...(cut > 0 ? [treeDiagnostic(limits)] : [])]
}

function tooManyLinked(): DiagnosticRow {
  return treeDiagnostic(finding('tree.limit:links', { limit: LINKED_ENTRIES }))
}

function submodule(path: RepoPath): DiagnosticRow {
  return { ...finding('tree.submodule'), severity: 'info', path }
}

/** The total size of files; a missing blob counts as 0. */
export function sumBytes(files: readonly Pick<TreeFile, 'sizeBytes'>[]): number {
  return files.reduce((sum, file) => sum + (file.sizeBytes ?? 0), 0)
}

/** The bytes of equal files count once. */
export function sumDistinctBytes(files: readonly Pick<TreeFile, 'oid' | 'sizeBytes'>[]): number {
  return sumBytes([...new Map(files.map(file => [file.oid, file])).values()])
}

// Git refuses to create a folder named `.git`, so only a malicious repository has one.
function isTreeSegment(name: string): boolean {
  return isPathSegment(name) && name.toLowerCase() !== '.git'
}

function treeDiagnostic(found: Finding): DiagnosticRow {
  return { ...found, severity: 'warning', path: ROOT }
}

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

/** Whether an entry of a folder is a symlink, and not only below one. */
export function isOwnLink(
  { path, target, mode }: Pick<TreeFile, 'path' | 'target'> & { mode?: string },
  folder: TreeFolder,
): boolean {
  if (target === undefined) return mode === '120000'
  return target !== joinPath(folder.target ?? folder.path, baseNameOf(path))
}

export function isRegular(file: TreeFile): boolean {
  return file.mode === '100644' || file.mode === '100755'
}

function isTooLong(path: RepoPath): boolean {
  return path.split('/').length > TREE_DEPTH_SEGMENTS || utf8Length(path) > PATH_BYTES
}

/** What the symbolic links of a tree lead to. */
interface FollowedLinks {
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
  /** The paths of links that give nothing, each with the path of the folder or submodule to which it leads. */
  ends: Map<RepoPath, RepoPath>
}

type LinkedFolders = ReadonlyMap<RepoPath, TreeFolder>
type TextOf = (oid: string) => string | null

/**
 * Follows every symbolic link as a file system does, through other links too, and never out of the tree. A link that leads nowhere, or to a folder that
 * would then hold itself, gives nothing. Folders are given with all of their files or not at all: one of them may be a manifest.
 *
 * @param textOf where a link leads, as its blob says it; `null` when the blob cannot be read
 */
export function followLinks(folders: LinkedFolders, textOf: TextOf): FollowedLinks {
  const found: FollowedLinks = { files: [], folders: new Map(), tooLong: [], cut: [], ends: new Map() }
  const endOf = createLocator(folders, textOf)
  let left = LINKED_ENTRIES

  /** @param above the folders in which the links lie that were followed to get here */
  function follow(path: RepoPath, link: TreeFile, above: readonly RepoPath[]): void {
    const around = [...above, parentOf(link.path)]
    const end = endOf(link)
    const isFolder = typeof end === 'string'
    const isFile = end !== null && !isFolder && isRegular(end)
    // A manifest that is a folder could be read as none: it stays a link, which closes its folder.
    const isStopped = isFolder && (baseNameOf(link.path) === MANIFEST_FILE || around.some(folder => isInside(end, folder)))
    if (isFile) give(path, end)
    else if (!isFolder || isStopped || !expand(path, end, around)) {
      give(path, link)
      if (end !== null) found.ends.set(path, isFolder ? end : end.path)
    }
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
function linksOf(folders: LinkedFolders): TreeFile[] {
  const links = [...folders.values()].flatMap(({ files }) => [...files.values()].filter(isLink))
  return links.sort((left, right) => compareBytes(left.path, right.path))
}

/** Finds the regular file or submodule, or the path of the folder, that a link leads to. Memoized. */
function createLocator(folders: LinkedFolders, textOf: TextOf): (link: TreeFile) => TreeFile | RepoPath | null {
  const entries = { filesIn: (folder: RepoPath) => folders.get(folder)?.files, textOf }
  const known = new Map<RepoPath, TreeFile | RepoPath | null>()
  return link => {
    const end = known.get(link.path)
    if (end !== undefined) return end
    const located = locate(link.path, entries)
    const found = located === null ? null : 'folder' in located ? located.folder : isLink(located.file) ? null : located.file
    known.set(link.path, found)
    return found
  }
}
