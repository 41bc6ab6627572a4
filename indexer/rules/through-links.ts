import { baseNameOf, parentOf, type RepoPath, SKILL_FILE } from '#core/repo-path.ts'
import { isSkillPlace, pathKind } from './content-kind.ts'
import type { ResolvedLicense } from './license/index.ts'
import type { Tree, TreeFile } from './tree.ts'

interface LicensesOfPlaces {
  licenseOf(folder: RepoPath): ResolvedLicense
  licenseOfFile(file: TreeFile): ResolvedLicense
}

/**
 * Licenses, of folders and files below symlinks also those of their own places. See `Plan`.
 *
 * @param ownLicenseOf the license that the place of a folder says
 */
export function licensesThroughLinks(
  tree: Tree,
  isServed: (license: ResolvedLicense) => boolean,
  ownLicenseOf: (folder: RepoPath) => ResolvedLicense,
): LicensesOfPlaces {
  const through = (license: ResolvedLicense, target: RepoPath | undefined) =>
    target !== undefined && isServed(license) ? ownLicenseOf(target) : license
  const licenseOf = (folder: RepoPath) => through(ownLicenseOf(folder), tree.folders.get(folder)?.target)
  return {
    licenseOf,
    licenseOfFile: ({ path, target }) => through(licenseOf(parentOf(path)), target === undefined ? undefined : parentOf(target)),
  }
}

/** Whether a symlink gives a second path to a skill or document that is listed by its own. Such a path can be read, and is not listed, counted or found. */
export function aliasesOf(directories: ReadonlyMap<RepoPath, RepoPath>): (file: TreeFile) => boolean {
  return ({ path, target }) => {
    if (target === undefined) return false
    if (baseNameOf(path) === SKILL_FILE) return isSkillPlace(target)
    return directories.has(parentOf(target)) || pathKind(target) === 'document'
  }
}
