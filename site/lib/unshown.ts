import type { Address } from '#core/address.ts'
import type { BrowseEntry } from '#core/contract/browse.ts'
import { findingOf } from '#core/finding-messages.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { PageT } from '#words/t.ts'
import type { ApiError } from './api-client.ts'
import { contentHref, extensionOf, hiddenFolderOf, isMarkdownPath, pageHref } from './links.ts'

/* What is in the tree and a page does not show: each kind has its sentence and its way out. */

/** Something that is there, and is not what was asked for, or is not shown. */
export interface PresentPart {
  kind: 'present'
  what: Present
  path: RepoPath
  /** The address that lists it. */
  mount: Address
  /** Where a link leads. */
  target?: { path: string; href: string }
  /** The page of the thing itself, where it has one. */
  href?: string
  /** The original at the host, where that serves it. */
  sourceUrl?: string | undefined
  /** This service is the host, and does not serve the original. */
  isKept?: boolean
}

type Present =
  | 'folder'
  | 'file'
  | 'fileBelow'
  | 'noSkill'
  | 'link'
  | 'linkNowhere'
  | 'submodule'
  | 'picture'
  | 'not_text'
  | 'lfs'
  | 'too_large'
  | 'not_sent'
  /** A document in a hidden folder. */
  | 'hidden'
  /** Whether it is there is not asked: the address shows another folder. */
  | 'outside'

const PICTURES = new Set(['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'svg', 'ico', 'bmp', 'tif', 'tiff', 'heic'])

/** A picture, by the ending of its name. */
export function isPicturePath(path: string): boolean {
  return path.includes('.') && PICTURES.has(extensionOf(path))
}

/** Why an entry is not sent, as one word: `not sent`, `a picture`, `link`. A link that is sent is called one, too. */
export function wordOfEntry({ why, target, path }: BrowseEntry, t: PageT): string | undefined {
  if (why === undefined) return target === undefined ? undefined : t('browse.why.link')
  const isPicture = (why === 'not_delivered' || why === 'not_text') && isPicturePath(path)
  return t(isPicture ? 'browse.why.picture' : `browse.why.${why}`)
}

/** The page of an entry. A submodule has no folder to browse. */
export function entryHref(mount: Address, { kind, path, why }: BrowseEntry, files?: 'all' | 'delivered'): string {
  if (kind === 'file') return contentHref(mount, path)
  return why === 'submodule' ? pageHref(mount, 'file', { path }) : pageHref(mount, 'browse', { path, files })
}

/** The page of what a link leads to, which its list does not call a file or a folder: most names of folders have no dot. */
export function targetHref(mount: Address, target: string): string {
  const isFile = target.slice(target.lastIndexOf('/') + 1).includes('.')
  return isFile ? contentHref(mount, target) : pageHref(mount, 'browse', { path: target })
}

interface Asked {
  error: ApiError
  mount: Address
  /** What a link leads to. */
  target: BrowseEntry | null
  /** The rest of the path behind the entry. */
  below: string
  /** What the path was to name. */
  kind: 'path' | 'file' | 'skill'
}

/** An entry of a list that is not what was asked for. */
export function presentOf(entry: BrowseEntry, { error, mount, target, below, kind }: Asked): PresentPart {
  const path = entry.path as RepoPath
  const what = whatOf(entry, below, kind, error)
  const leads = target === null ? {} : { target: { path: target.path, href: entryHref(mount, target) } }
  const opens = what === 'folder' || what === 'file' || what === 'fileBelow' || what === 'noSkill'
  const href = opens ? { href: entry.kind === 'file' ? pageHref(mount, 'file', { path }) : entryHref(mount, entry) } : {}
  return { kind: 'present', what, path, mount, ...leads, ...href, ...(below === '' && what !== 'link' && originalOf(error)) }
}

function whatOf({ kind, path, why, target }: BrowseEntry, below: string, asked: Asked['kind'], error: ApiError): Present {
  if (why === 'submodule') return 'submodule'
  if (why === 'link') return target === undefined ? 'linkNowhere' : 'link'
  if (asked === 'skill' && below === '') return kind === 'directory' ? 'folder' : 'noSkill'
  if (kind === 'directory') return 'folder'
  if (below !== '') return 'fileBelow'
  return asked === 'path' ? 'file' : refusedOf(path, why === 'not_delivered' ? 'not_sent' : why, error)
}

/** A file as its refusal tells it; `null` where that tells nothing but that it is not there. */
export function presentOfError(path: string, error: ApiError): Omit<PresentPart, 'mount'> | null {
  const { code, sourceUrl } = error
  const kind = findingOf(error)?.case?.replace('_kept', '')
  if (kind === 'submodule' || kind === 'link')
    return { kind: 'present', what: kind === 'link' ? 'linkNowhere' : kind, path: path as RepoPath, ...originalOf(error) }
  const why = code === 'file.too_large' ? 'too_large' : code === 'file.not_text' ? 'not_text' : 'not_sent'
  if (why === 'not_sent' && (code !== 'file.not_found' || sourceUrl === undefined)) return null
  return { kind: 'present', what: refusedOf(path, why, error), path: path as RepoPath, ...originalOf(error) }
}

/** Where the original is. Hosts have no page for a submodule as a file. */
function originalOf(error: ApiError): Pick<PresentPart, 'sourceUrl' | 'isKept'> {
  const of = findingOf(error)?.case ?? ''
  if (of.endsWith('kept')) return { isKept: true }
  return of === 'submodule' ? {} : { sourceUrl: error.sourceUrl }
}

function refusedOf(path: string, why: string | undefined, error: ApiError): Present {
  if (findingOf(error)?.case === 'lfs') return 'lfs'
  if (why === 'too_large') return 'too_large'
  if (isPicturePath(path)) return 'picture'
  if (why === 'not_text') return 'not_text'
  return isMarkdownPath(path) && hiddenFolderOf(path) !== null ? 'hidden' : 'not_sent'
}
