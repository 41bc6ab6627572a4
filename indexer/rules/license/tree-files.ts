import { joinPath, parentOf, parseRepoPath, type RepoPath, ROOT } from '#core/repo-path.ts'
import type { LicenseFile, LicenseSources } from './sources.ts'

/** A regular file, found at its own path. */
export interface FoundFile {
  path: RepoPath
  oid: string
}

/** Links followed on the way to one file. */
const LINK_HOPS = 5

/**
 * The regular file that a path below a folder of the tree leads to. Links are followed wherever they stand in the path, at most `LINK_HOPS`.
 * `null` when there is none: nothing there, a folder, a circle, a link out of the repository, or one whose text cannot be read.
 */
export function findFile(sources: LicenseSources, start: RepoPath, path: string, hops = LINK_HOPS): FoundFile | null {
  let folder = start
  const segments = path.split('/')
  for (const [index, name] of segments.entries()) {
    const entry = sources.filesIn(folder).get(name)
    if (entry !== undefined) {
      const rest = segments.slice(index + 1)
      if (entry.mode === '120000') return hops === 0 ? null : followLink(sources, folder, entry, rest, hops - 1)
      return rest.length === 0 && entry.mode.startsWith('100') ? { path: joinPath(folder, name), oid: entry.oid } : null
    }
    folder = joinPath(folder, name)
  }
  return null
}

/** A link is relative to its own folder; one from the root of a file system points out of the repository. */
function followLink(
  sources: LicenseSources,
  folder: RepoPath,
  link: LicenseFile,
  rest: string[],
  hops: number,
): FoundFile | null {
  const text = sources.textOf(link.oid)
  if (text === null || text === undefined || text === '' || text.startsWith('/')) return null
  const target = pathFrom(folder, text)
  const path = target === null ? null : parseRepoPath([...(target === '' ? [] : [target]), ...rest].join('/'))
  return path === null || path === '' ? null : findFile(sources, ROOT, path, hops)
}

/** The path that a reference in a folder spells: relative, or from the root with a leading `/`; `null` when it leaves the repository. */
export function pathFrom(folder: RepoPath, reference: string): RepoPath | null {
  const segments = reference.startsWith('/') || folder === '' ? [] : folder.split('/')
  for (const segment of reference.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) return null
  }
  return parseRepoPath(segments.join('/'))
}

/** Folders from this one up to the root. */
export function upwards(folder: RepoPath): RepoPath[] {
  return folder === '' ? [ROOT] : [folder, ...upwards(parentOf(folder))]
}
