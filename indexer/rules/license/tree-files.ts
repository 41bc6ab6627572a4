import { joinPath, parentOf, parseRepoPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { LicenseSources } from './sources.ts'

/** A regular file, at its own path; or a symlink that could not be read, which has no text and may lead to any file. */
export interface FoundFile {
  path: RepoPath
  oid: string
}

/** Symlinks followed for one file, at most. */
const LINK_HOPS = 5

/**
 * The regular file at a path below a folder, following up to `LINK_HOPS` symlinks anywhere in the path.
 * `null` for a missing file, a folder, a cycle, and a symlink that leaves the repository.
 */
export function findFile(sources: LicenseSources, start: RepoPath, path: string, hops = LINK_HOPS): FoundFile | null {
  let folder = start
  const segments = path.split('/')
  for (const [index, name] of segments.entries()) {
    const entry = sources.filesIn(folder).get(name)
    if (entry !== undefined) {
      const rest = segments.slice(index + 1)
      if (entry.mode === '120000')
        return hops === 0 ? null : followLink(sources, { path: joinPath(folder, name), oid: entry.oid }, rest, hops - 1)
      return rest.length === 0 && entry.mode.startsWith('100')
        ? { path: entry.target ?? joinPath(folder, name), oid: entry.oid }
        : null
    }
    folder = joinPath(folder, name)
  }
  return null
}

/** Resolves a symlink relative to its folder. An absolute one leaves the repository. */
function followLink(sources: LicenseSources, link: FoundFile, rest: string[], hops: number): FoundFile | null {
  const text = sources.textOf(link.oid)
  if (text === null) return link
  if (text === undefined || text === '' || text.startsWith('/')) return null
  const target = pathFrom(parentOf(link.path), text)
  const path = target === null ? null : parseRepoPath([...(target === '' ? [] : [target]), ...rest].join('/'))
  return path === null || path === '' ? null : findFile(sources, ROOT, path, hops)
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
