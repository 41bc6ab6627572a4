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
 * The regular file that a path leads to. Links are followed wherever they stand in the path, at most `LINK_HOPS` of them.
 * `null` when there is none: nothing there, a folder, a circle, a link out of the repository, or one whose text cannot be read.
 */
export function findFile(sources: LicenseSources, path: RepoPath, hops = LINK_HOPS): FoundFile | null {
  let folder = ROOT
  const segments = path.split('/')
  for (const [index, name] of segments.entries()) {
    const entry = entryAt(sources, folder, name)
    const rest = segments.slice(index + 1)
    if (entry?.mode === '120000') {
      const target = hops === 0 ? null : linkTarget(sources.textOf(entry.oid), folder)
      const next = target === null ? null : parseRepoPath([...(target === '' ? [] : [target]), ...rest].join('/'))
      return next === null || next === '' ? null : findFile(sources, next, hops - 1)
    }
    if (entry !== undefined) return rest.length === 0 ? { path, oid: entry.oid } : null
    folder = joinPath(folder, name)
  }
  return null
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

function entryAt(sources: LicenseSources, folder: RepoPath, name: string): LicenseFile | undefined {
  return sources.filesIn(folder).get(name)
}

/** A link is relative to its own folder; one from the root of a file system points out of the repository. */
function linkTarget(text: string | null | undefined, folder: RepoPath): RepoPath | null {
  return text === null || text === undefined || text === '' || text.startsWith('/') ? null : pathFrom(folder, text)
}

/** Folders from this one up to the root. */
export function upwards(folder: RepoPath): RepoPath[] {
  return folder === '' ? [ROOT] : [folder, ...upwards(parentOf(folder))]
}
