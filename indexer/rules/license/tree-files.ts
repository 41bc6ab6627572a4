import { locate } from '#core/followed-path.ts'
import { joinPath, parentOf, parseRepoPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { LicenseSources } from './sources.ts'

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
