import type { Diagnostic } from '#core/contract/shared.ts'
import { PATH_BYTES, TREE_DEPTH_SEGMENTS } from '#core/limits.ts'
import type { TreeEntry } from '#core/ports/git-host.ts'
import { baseNameOf, isPathSegment, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { compareBytes, utf8Length } from '#core/text.ts'

/** A file, symlink or submodule of the repository. */
export interface TreeFile {
  path: RepoPath
  mode: TreeEntry['mode']
  oid: string
  /** `null`: the blob is missing. */
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
  /** Entries were left out because their path is too long or too deep. */
  cut: boolean
  diagnostics: Diagnostic[]
}

/** Builds the tree; entries whose names no canonical path can hold are left out with a diagnostic. */
export function buildTree(entries: Iterable<TreeEntry>): Tree {
  const folders = new Map<RepoPath, TreeFolder>([[ROOT, { path: ROOT, folders: [], files: new Map() }]])
  const diagnostics: Diagnostic[] = []
  let unnamable = 0
  let cut = 0

  function folderAt(path: RepoPath): TreeFolder {
    const known = folders.get(path)
    if (known) return known
    const folder: TreeFolder = { path, folders: [], files: new Map() }
    folders.set(path, folder)
    folderAt(parentOf(path)).folders.push(baseNameOf(path))
    return folder
  }

  for (const entry of entries) {
    const segments = entry.path?.split('/')
    if (!segments?.every(isTreeSegment)) {
      unnamable++
      continue
    }
    const path = entry.path as RepoPath
    if (segments.length > TREE_DEPTH_SEGMENTS || utf8Length(path) > PATH_BYTES) {
      cut++
      continue
    }
    const { mode, oid, sizeBytes } = entry
    const files = folderAt(parentOf(path)).files
    if (!files.has(baseNameOf(path))) files.set(baseNameOf(path), { path, mode, oid, sizeBytes })
    if (mode === '160000') {
      diagnostics.push({
        code: 'tree.submodule',
        severity: 'info',
        path,
        message: 'a submodule is another repository and is not read',
      })
    }
  }

  for (const folder of folders.values()) {
    folder.folders.sort(compareBytes)
    folder.files = new Map([...folder.files].sort(([left], [right]) => compareBytes(left, right)))
  }
  if (unnamable > 0)
    diagnostics.push(
      treeDiagnostic('tree.invalid_name', `${unnamable} entries left out: names that are relative, unprintable or not UTF-8`),
    )
  if (cut > 0)
    diagnostics.push(
      treeDiagnostic(
        'tree.limit',
        `${cut} entries left out: paths longer than ${PATH_BYTES} bytes or deeper than ${TREE_DEPTH_SEGMENTS}`,
      ),
    )

  return {
    folders,
    file: path => folders.get(parentOf(path))?.files.get(baseNameOf(path)) ?? null,
    cut: cut > 0,
    diagnostics,
  }
}

/** Bytes of files together; a missing blob has none. */
export function sumBytes(files: readonly TreeFile[]): number {
  return files.reduce((sum, file) => sum + (file.sizeBytes ?? 0), 0)
}

export function isRegular(file: TreeFile): boolean {
  return file.mode === '100644' || file.mode === '100755'
}

// A folder named `.git` can only come from a repository that means harm; git itself refuses to make one.
function isTreeSegment(name: string): boolean {
  return isPathSegment(name) && name.toLowerCase() !== '.git'
}

function treeDiagnostic(code: string, message: string): Diagnostic {
  return { code, severity: 'warning', path: ROOT, message }
}
