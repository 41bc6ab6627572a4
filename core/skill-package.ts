import { baseNameOf, type RepoPath } from './repo-path.ts'

/** A file of a skill as clients install it. */
export interface PackageEntry {
  /** Its name in the package: a path below the folder of the skill. */
  name: string
  /** Path of the file that has its bytes. */
  source: RepoPath
}

export interface PackageParts {
  /** Folder of the skill. */
  directory: RepoPath
  /** Files of the folder, in byte order of their paths. */
  files: readonly RepoPath[]
  notices: readonly RepoPath[]
}

/**
 * The files of a package in the order of its archive: those of the folder, then the license
 * files and notices from outside.
 */
export function packageEntries({ directory, files, notices }: PackageParts): PackageEntry[] {
  return [
    ...files.map(path => ({ name: packageName(directory, path), source: path })),
    ...notices.map(path => ({ name: baseNameOf(path), source: path })),
  ]
}

/** The name in a package of a file in the folder of its skill. */
export function packageName(directory: RepoPath, path: RepoPath): string {
  return directory === '' ? path : path.slice(directory.length + 1)
}
