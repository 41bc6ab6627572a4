import type { License } from '#core/contract/shared.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import type { RepoPath } from '#core/repo-path.ts'

/** A blob of the tree. `120000` is a symlink, whose text is its target. */
export interface LicenseFile {
  mode: '100644' | '100755' | '120000'
  oid: string
}

/** What a repository declares, looked up folder by folder. Folders of submodules are simply not there. */
export interface LicenseSources {
  /** Files and symlinks directly in the folder, by base name; empty when there is no such folder. */
  filesIn(folder: RepoPath): ReadonlyMap<string, LicenseFile>

  /** Text of a blob; `null` when it is missing, too large or not text; `undefined` when nobody read it yet. */
  textOf(oid: string): string | null | undefined

  /** Whether the folder holds a skill, and what its front matter says under `license` (`undefined`: nothing). */
  skillIn(folder: RepoPath): { license: FrontMatterValue | undefined } | null

  /** Whether the folder holds a readable manifest, and what it says under `license` (`undefined`: nothing). */
  manifestIn(folder: RepoPath): { license: FrontMatterValue | undefined } | null
}

/** A folder, and the folder of the skill that owns the files in question; `null` for files outside skills. */
export interface LicensePlace {
  folder: RepoPath
  skillDirectory: RepoPath | null
}

/** Something about a declaration that its author should know. One object per cause, shared by every place that it concerns. */
export interface LicenseIssue {
  /** `unresolved`: points to a file that is not there. `unrecognized`: words or a text that nobody knows. `conflict`: two that differ. */
  code: 'license.unresolved' | 'license.unrecognized' | 'license.conflict'
  /** `license` when it stands in a front matter. */
  field?: 'license'
  message: string
  /** The file that declares it. */
  path: RepoPath
}

export interface ResolvedLicense {
  license: License
  issues: readonly LicenseIssue[]
  /** `license.kind` is `open`. */
  open: boolean
}
