import { READABLE_FILE_BYTES } from '#core/limits.ts'
import { baseNameOf, isInside, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { isBinaryName } from './content-kind.ts'
import { isLicenseFileName } from './license/index.ts'
import type { PlannedFile, PlannedSkill } from './plan.ts'
import type { Tree, TreeFile } from './tree.ts'

/** The license files and notices of the folder above a skill that declares its license: they belong to what clients install. */
export type NoticesOf = (planned: Pick<PlannedSkill, 'skill' | 'license'>) => readonly TreeFile[]

/** Reads each folder once. */
export function createNotices({ folders }: Pick<Tree, 'folders'>, files: ReadonlyMap<RepoPath, PlannedFile>): NoticesOf {
  const known = new Map<RepoPath, readonly TreeFile[]>()
  const noticesIn = (folder: RepoPath) => {
    const found =
      known.get(folder) ?? [...(folders.get(folder)?.files.values() ?? [])].filter(file => isNotice(file, folder, files))
    known.set(folder, found)
    return found
  }
  return ({ skill, license }) => {
    const source = license.license.source as RepoPath | null
    return source === null || isInside(skill.directory, source) ? [] : noticesIn(parentOf(source))
  }
}

function isNotice({ path, sizeBytes }: TreeFile, folder: RepoPath, files: ReadonlyMap<RepoPath, PlannedFile>): boolean {
  const name = baseNameOf(path)
  const isNamed = isLicenseFileName(name, folder === ROOT) || /^NOTICE(?:\.(?:md|txt|rst))?$/.test(name)
  const isReadable = sizeBytes !== null && sizeBytes <= READABLE_FILE_BYTES && !isBinaryName(path)
  return isNamed && isReadable && files.get(path)?.served === true
}
