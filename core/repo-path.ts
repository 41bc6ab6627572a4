import { ADDRESS_SEGMENTS, PATH_BYTES } from './limits.ts'
import { utf8Length } from './text.ts'

/**
 * Canonical path in a repository: segments joined by `/`, no leading or trailing slash, `''` for the root.
 * No segment is empty, `.` or `..`; none holds a control character or a backslash.
 */
export type RepoPath = string & { readonly __repoPath: true }

export const ROOT = '' as RepoPath

/** The file that makes its folder a skill. */
export const SKILL_FILE = 'SKILL.md'
/** The file that makes its folder a skill set: its manifest. */
export const MANIFEST_FILE = 'SKILLSET.md'

/** The text as a canonical path; `null` when it is not one. */
export function parseRepoPath(text: string): RepoPath | null {
  if (text === '') return ROOT
  if (utf8Length(text) > PATH_BYTES) return null
  const segments = text.split('/')
  return segments.length <= ADDRESS_SEGMENTS && segments.every(isPathSegment) ? (text as RepoPath) : null
}

/** Whether the text may be a segment of a canonical path. */
export function isPathSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !UNPRINTABLE.test(text) && text.isWellFormed()
}

const UNPRINTABLE = /[\p{Cc}\\/]/u

export function joinPath(folder: RepoPath, name: string): RepoPath {
  return (folder === '' ? name : `${folder}/${name}`) as RepoPath
}

/** The containing folder; the root contains itself. */
export function parentOf(path: RepoPath): RepoPath {
  return path.slice(0, Math.max(0, path.lastIndexOf('/'))) as RepoPath
}

export function baseNameOf(path: RepoPath): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Whether `path` is the folder itself or lies below it. */
export function isInside(folder: RepoPath, path: RepoPath): boolean {
  return folder === '' || path === folder || (path.startsWith(folder) && path[folder.length] === '/')
}

/** The folders from the root to the folder that contains `path`, root first. */
export function ancestorsOf(path: RepoPath): RepoPath[] {
  const folders: RepoPath[] = [ROOT]
  if (path === '') return []
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    folders.push(path.slice(0, slash) as RepoPath)
  }
  return folders
}

/** Percent-encodes every segment of a path for a URL. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** The same for paths that differ in upper and lower case or in Unicode normalization (NFC, NFD) alone: people and file systems confuse them. */
export function foldPath(path: string): string {
  return path.normalize().toLowerCase()
}
