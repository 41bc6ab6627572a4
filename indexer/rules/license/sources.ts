import type { License } from '#core/contract/shared.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { locate } from '#core/followed-path.ts'
import type { TreeEntry } from '#core/ports/git-host.ts'
import { joinPath, parentOf, parseRepoPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { Finding } from '#words/findings.ts'

/** An entry of the tree. The text of a symlink is where it leads. */
export interface LicenseFile {
  mode: TreeEntry['mode']
  oid: string
  /** `null` when the blob is missing. */
  sizeBytes: number | null
  /** Where its bytes lie, if a symlink gives it its path. */
  target?: RepoPath
}

/** The `license` of a front matter. */
export interface DeclaredLicense {
  /** `undefined`: it declares none. */
  license: FrontMatterValue | undefined
  /** Of the file, from 1, where it can be told. */
  line?: number | undefined
}

/** The declarations of a repository, by folder. */
export interface LicenseSources {
  /** The files, symlinks and submodules directly in a folder, by base name; empty when the folder does not exist. */
  filesIn(folder: RepoPath): ReadonlyMap<string, LicenseFile>

  /** The text of a blob; `null` when it is missing, too large or not text; `undefined` before it is read. */
  textOf(oid: string): string | null | undefined

  /**
   * The `license` in the front matter of the folder's skill; `unread` when the folder has a `SKILL.md` whose front matter could not be read;
   * `null` when the folder has no skill.
   */
  skillIn(folder: RepoPath): DeclaredLicense | 'unread' | null

  /** The `license` of the folder's manifest; `null` when the folder has no valid manifest. */
  manifestIn(folder: RepoPath): DeclaredLicense | null

  /** Whether a manifest withholds a path. A withheld license file keeps its effect and is not named. */
  isWithheld(path: RepoPath): boolean
}

/** A problem of a declaration. All places with the same cause share one object. */
export interface LicenseIssue extends Finding {
  /** `unresolved`: the named file does not exist. `unrecognized`: unknown words or text. `conflict`: different licenses. */
  code: 'license.unresolved' | 'license.unrecognized' | 'license.conflict'
  /** `license` for front matter and manifests. */
  field?: 'license'
  /** The file that declares it. */
  path: RepoPath
}

/** A license that is declared, and not known. */
export type Unrecognized = Finding & { code: 'license.unrecognized' }

export interface ResolvedLicense {
  license: License
  issues: readonly LicenseIssue[]
  /** `license.kind` is `open`. */
  open: boolean
}

/** A regular file, at its own path; or a symlink that could not be read, which has no text and may lead to any file. */
export interface FoundFile {
  path: RepoPath
  oid: string
  /** `null` when the blob is missing. */
  sizeBytes: number | null
}

/**
 * The regular file at a path below a folder, through symlinks anywhere in the path.
 * `null` for a missing file, a folder, a cycle, and a symlink that leaves the repository.
 */
export function findFile(sources: LicenseSources, start: RepoPath, path: string): FoundFile | null {
  const found = locate(joinPath(start, path), sources)
  if (found === null || 'folder' in found || found.file.mode === '160000') return null
  const { oid, sizeBytes, target = found.path } = found.file
  return { path: target, oid, sizeBytes }
}

/** Resolves a reference relative to a folder, or to the root with a leading `/`; `null` when it leaves the repository. */
export function pathFrom(folder: RepoPath, reference: string): RepoPath | null {
  const segments = reference.startsWith('/') || folder === '' ? [] : folder.split('/')
  for (const segment of reference.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) return null
  }
  return parseRepoPath(segments.join('/'))
}

/** The folders from this one up to the root. */
export function upwards(folder: RepoPath): RepoPath[] {
  return folder === '' ? [ROOT] : [folder, ...upwards(parentOf(folder))]
}
