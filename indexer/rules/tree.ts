import type { Diagnostic } from '#core/contract/shared.ts'
import { PATH_BYTES, TREE_DEPTH_SEGMENTS } from '#core/limits.ts'
import type { TreeEntry } from '#core/ports/git-host.ts'
import { baseNameOf, isPathSegment, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { compareBytes, utf8Length } from '#core/text.ts'
import { say } from '#core/words/findings.ts'

/** A file, symlink or submodule of the repository. */
export interface TreeFile {
  path: RepoPath
  mode: TreeEntry['mode']
  oid: string
  /** `null` when the blob is missing. */
  sizeBytes: number | null
}

export interface TreeFolder {
  path: RepoPath
  /** Base names, in byte order. */
  folders: string[]
  files: Map<string, TreeFile>
}

/** The whole tree of a commit, by canonical path. */
export interface Tree {
  folders: ReadonlyMap<RepoPath, TreeFolder>
  file(path: RepoPath): TreeFile | null
  /** Entries with too long or too deep paths were left out. */
  cut: boolean
  /** Whether entries that were left out may lie below the folder. */
  isPartial(folder: RepoPath): boolean
  diagnostics: Diagnostic[]
}

/** Builds the tree. Entries whose names no canonical path can hold, or whose paths exceed a limit, are left out with a diagnostic. */
export function buildTree(entries: Iterable<TreeEntry>): Tree {
  const folders = createFolders()
  const diagnostics: Diagnostic[] = []
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
    if (segments.length > TREE_DEPTH_SEGMENTS || utf8Length(path) > PATH_BYTES) {
      cut++
      partial.add(segments)
      continue
    }
    folders.add({ path, mode: entry.mode, oid: entry.oid, sizeBytes: entry.sizeBytes })
    if (entry.mode === '160000') diagnostics.push(submodule(path))
  }
  const byPath = folders.sorted()
  return {
    folders: byPath,
    file: path => byPath.get(parentOf(path))?.files.get(baseNameOf(path)) ?? null,
    cut: cut > 0,
    isPartial: partial.has,
    diagnostics: [...diagnostics, ...leftOut(invalid, cut)],
  }
}

/** The folders of a tree, created as files are added. Of files with the same path the first one counts. */
function createFolders(): { add(file: TreeFile): void; sorted(): Map<RepoPath, TreeFolder> } {
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
    sorted() {
      for (const folder of folders.values()) {
        folder.folders.sort(compareBytes)
        folder.files = new Map([...folder.files].sort(([left], [right]) => compareBytes(left, right)))
      }
      return folders
    },
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

function leftOut(invalid: number, cut: number): Diagnostic[] {
  const names = say('tree.invalid_name', { n: invalid })
  const limits = say('tree.limit', { n: cut, byteLimit: PATH_BYTES, segmentLimit: TREE_DEPTH_SEGMENTS })
  return [
    ...(invalid > 0 ? [treeDiagnostic('tree.invalid_name', names)] : []),
    ...(cut > 0 ? [treeDiagnostic('tree.limit', limits)] : []),
  ]
}

function submodule(path: RepoPath): Diagnostic {
  return { code: 'tree.submodule', severity: 'info', path, message: say('tree.submodule') }
}

/** The total size of files; a missing blob counts as 0. */
export function sumBytes(files: readonly Pick<TreeFile, 'sizeBytes'>[]): number {
  return files.reduce((sum, file) => sum + (file.sizeBytes ?? 0), 0)
}

export function isRegular(file: TreeFile): boolean {
  return file.mode === '100644' || file.mode === '100755'
}

// Git refuses to create a folder named `.git`, so only a malicious repository has one.
function isTreeSegment(name: string): boolean {
  return isPathSegment(name) && name.toLowerCase() !== '.git'
}

function treeDiagnostic(code: string, message: string): Diagnostic {
  return { code, severity: 'warning', path: ROOT, message }
}
