import { type Address, atPath, formatAddress } from '#core/address.ts'
import { baseNameOf, isInside, parentOf, parseRepoPath, type RepoPath, ROOT } from '#core/repo-path.ts'

export const VIEWS = ['overview', 'browse', 'find', 'skill', 'file'] as const
export type View = (typeof VIEWS)[number]

/** How repository text is shown: as an agent receives it, or rendered for reading. */
export type Look = 'exact' | 'rendered'

/** The host segment whose accounts have pages. */
export const ACCOUNT_HOST = 'gh'

export interface PageParameters {
  path?: string | undefined
  query?: string | undefined
  cursor?: string | undefined
  offset?: number | undefined
  look?: Look | undefined
}

/** The page of an address. Parameters that say the default are left out. */
export function pageHref(address: Address, view: View, parameters: PageParameters = {}): string {
  const given: [string, string][] = view === 'overview' ? [] : [['view', view]]
  if (parameters.path !== undefined && !(view === 'browse' && parameters.path === address.path))
    given.push(['path', parameters.path])
  if (parameters.query !== undefined) given.push(['query', parameters.query])
  if (parameters.cursor !== undefined) given.push(['cursor', parameters.cursor])
  if (parameters.offset !== undefined && parameters.offset > 0) given.push(['offset', String(parameters.offset)])
  if (parameters.look === 'rendered') given.push(['look', 'rendered'])
  const query = given.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2F', '/')}`).join('&')
  return formatAddress(address) + (query === '' ? '' : `?${query}`)
}

/** The page of an account of `ACCOUNT_HOST`. */
export function ownerHref(login: string, page = 1): string {
  return `/owners/${ACCOUNT_HOST}/${encodeURIComponent(login)}${page > 1 ? `?page=${page}` : ''}`
}

/** The page of a content path: skills open as skills, everything else as a file. */
export function contentHref(address: Address, path: string, look: Look = 'exact'): string {
  return pageHref(address, isSkillPath(path) ? 'skill' : 'file', { path, look })
}

/** The URL when a page may link to it: of the web, or of this origin. */
export function webHref(url: string | undefined): string | undefined {
  return url !== undefined && /^(?:https?:\/\/|\/(?!\/))/i.test(url) ? url : undefined
}

/** What a page may load as a picture: nothing but pictures of this origin. */
export function pictureHref(url: string | null, baseUrl: string): string | undefined {
  return url?.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined
}

export function isSkillPath(path: string): boolean {
  return baseNameOf(path as RepoPath) === 'SKILL.md'
}

export function isMarkdownPath(path: string): boolean {
  return /\.(?:md|markdown|mdown|mdx)$/i.test(path)
}

/**
 * Where a link inside repository Markdown leads, or `null` when nowhere we know.
 *
 * Web and mail links stay. A relative link is read from the folder of its file, one with a leading slash from the repository root; inside
 * the mount it opens there, elsewhere in the repository it opens under the root's address.
 *
 * @param href as markdown-it gives it: percent-encoded
 * @param idPrefix what ids of this text start with
 */
export function resolveLink(address: Address, filePath: string, href: string, idPrefix: string): string | null {
  if (/^(?:https?:\/\/|mailto:)/i.test(href)) return href
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('//')) return null
  const [beforeFragment = '', fragment] = splitOnce(href, '#')
  const [target = ''] = splitOnce(beforeFragment, '?')
  if (target === '') return fragment === undefined || fragment === '' ? null : `#${idPrefix}${fragment}`

  const path = resolvePath(parentOf(filePath as RepoPath), target)
  if (path === null) return null
  const mount = isInside(address.path as RepoPath, path) ? address : atPath(address, ROOT)
  if (target.endsWith('/') || path === ROOT) return pageHref(mount, 'browse', { path })
  return contentHref(mount, path, isMarkdownPath(path) ? 'rendered' : 'exact')
}

function resolvePath(folder: RepoPath, target: string): RepoPath | null {
  const segments = target.startsWith('/') || folder === '' ? [] : folder.split('/')
  for (const raw of target.split('/')) {
    const segment = decodeOrNull(raw)
    if (segment === null) return null
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) return null
  }
  return parseRepoPath(segments.join('/'))
}

function decodeOrNull(raw: string): string | null {
  try {
    return decodeURIComponent(raw)
  } catch {
    return null
  }
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
