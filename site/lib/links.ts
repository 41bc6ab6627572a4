import { type Address, atPath, formatAddress, type OwnerName } from '#core/address.ts'
import type { SkillCommit, SkillHistory } from '#core/contract/history.ts'
import type { Repository } from '#core/contract/mount.ts'
import type { FindingLevel } from '#core/contract/shared.ts'
import { baseNameOf, isInside, MANIFEST_FILE, parentOf, parseRepoPath, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'

export const VIEWS = ['overview', 'browse', 'find', 'skill', 'file', 'findings', 'refs', 'changes'] as const
export type View = (typeof VIEWS)[number]

/** How a page shows repository text: rendered, or character for character as an agent receives it. */
export type Look = 'rendered' | 'exact'

/** The host segment whose accounts have pages. */
export const ACCOUNT_HOST = 'gh'

export interface PageParameters {
  path?: string | undefined
  query?: string | undefined
  /** Of changes: the old side. */
  from?: string | undefined
  /** Of changes of a file that moved: its old path. */
  was?: string | undefined
  cursor?: string | undefined
  /** Cursors of the pages before, see `pager.ts`. */
  back?: readonly string[]
  offset?: number | undefined
  /** Of a skill; the first page has none. */
  page?: number | 'all' | undefined
  /** Of a file: the number of the first line at `offset`. */
  line?: number | undefined
  look?: Look | undefined
  /** Of a folder: `delivered` for what agents get alone. */
  files?: 'all' | 'delivered' | undefined
  /** Of findings; all have none. */
  level?: FindingLevel | undefined
  /** Of findings; by kind has none. */
  by?: 'kind' | 'skill' | undefined
}

/** The URL of an address page, without parameters that equal their default. */
export function pageHref(address: Address, view: View, parameters: PageParameters = {}): string {
  const given: [string, string][] = view === 'overview' ? [] : [['view', view]]
  if (parameters.path !== undefined && !(view === 'browse' && parameters.path === address.path))
    given.push(['path', parameters.path])
  if (parameters.was !== undefined) given.push(['was', parameters.was])
  if (parameters.from !== undefined) given.push(['from', parameters.from])
  if (parameters.query !== undefined) given.push(['query', parameters.query])
  if (parameters.files === 'delivered') given.push(['files', parameters.files])
  if (parameters.level !== undefined) given.push(['level', parameters.level])
  if (parameters.by === 'skill') given.push(['by', 'skill'])
  if (parameters.page !== undefined && parameters.page !== 1) given.push(['page', String(parameters.page)])
  if (parameters.cursor !== undefined) given.push(['cursor', parameters.cursor])
  if (parameters.back !== undefined && parameters.back.length > 0) given.push(['back', parameters.back.join(',')])
  if (parameters.offset !== undefined && parameters.offset > 0) given.push(['offset', String(parameters.offset)])
  if (parameters.line !== undefined && parameters.line > 1) given.push(['line', String(parameters.line)])
  if (parameters.look === 'exact') given.push(['look', 'exact'])
  const query = given.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2F', '/')}`).join('&')
  return formatAddress(address) + (query === '' ? '' : `?${query}`)
}

/** Pixels of the picture of a link. */
export const CARD_WIDTH = 1200
export const CARD_HEIGHT = 630

/** The picture of a link to an address, or to a skill of it. */
export function cardHref(address: Address, skill?: string): string {
  const query = skill === undefined ? '' : `?skill=${encodeURIComponent(skill).replaceAll('%2F', '/')}`
  return `/social${formatAddress(address)}${query}`
}

/** The page of an account of `ACCOUNT_HOST`, or of the local repositories of one owner. */
export function ownerHref(login: string, page = 1, host: string = ACCOUNT_HOST): string {
  return `/owners/${host}/${encodeURIComponent(login)}${page > 1 ? `?page=${page}` : ''}`
}

/** The search for the words of a text in all listed repositories; `null` where it has none. */
export function searchHref(text: string): string | null {
  const query = text.trim()
  return /[\p{L}\p{N}]/u.test(query) ? `/search?${new URLSearchParams({ query })}` : null
}

/** The page of a content path: skills open as skills, everything else as a file. */
export function contentHref(address: Address, path: string): string {
  return pageHref(address, isSkillPath(path) ? 'skill' : 'file', { path })
}

/** The address, if the path lies in its folder; else that of the root of its repository. */
export function addressShowing(address: Address, path: string): Address {
  return isInside(address.path, path as RepoPath) ? address : atPath(address, ROOT)
}

/** A line of a text file, as its source. */
export function lineHref(address: Address, path: string, line: number): string {
  return `${pageHref(address, 'file', { path, look: 'exact' })}#L${line}`
}

/** The URL, if a page may link to it (http, https, or this origin); else `null`. */
export function webHref(url: string | undefined): string | undefined {
  return url !== undefined && /^(?:https?:\/\/|\/(?!\/))/i.test(url) ? url : undefined
}

/** Where people find repositories of a host segment: the origin of the host's pages. */
export type HostUrls = Readonly<Record<string, string>>

/** An account, or a repository of an account, on the pages of its host. */
export function hostPageHref(named: OwnerName | Address, urls: HostUrls): string | undefined {
  const origin = urls[named.host]
  if (origin === undefined) return undefined
  return 'repository' in named ? `${origin}/${named.owner}/${named.repository}` : `${origin}/${named.owner}`
}

/** The mounted folder on the pages of its host, at a commit. */
export function hostHref(address: Address, commit: string, urls: HostUrls): string | undefined {
  const page = hostPageHref(address, urls)
  if (page === undefined) return undefined
  const folder = address.path === '' ? '' : `/${address.path.split('/').map(encodeURIComponent).join('/')}`
  return `${page}/tree/${commit}${folder}`
}

/** The search of a host for an account, or for a repository of an account. */
export function hostSearchHref(named: OwnerName | Address, urls: HostUrls): string | undefined {
  const origin = urls[named.host]
  if (origin === undefined) return undefined
  const isRepository = 'repository' in named
  const query = isRepository ? `user:${named.owner} ${named.repository}` : named.owner
  return `${origin}/search?${new URLSearchParams({ q: query, type: isRepository ? 'repositories' : 'users' })}`
}

/** A file at a commit: as its host shows it, or the raw route of this service, which is the host of local repositories. */
export function rawHref({ host, owner, repository }: Address, commit: string, path: string, urls: HostUrls): string {
  const file = path.split('/').map(encodeURIComponent).join('/')
  const origin = urls[host]
  return origin === undefined
    ? `/git/${host}/${owner}/${repository}/raw/${commit}/${file}`
    : `${origin}/${owner}/${repository}/blob/${commit}/${file}`
}

/** A request to the API from a page. */
export function apiHref(endpoint: string, address: string, query: Record<string, string>): string {
  return `/api/v1/${endpoint}${address}?${new URLSearchParams(query)}`
}

/** What the raw route of local repositories does with files that no license permits to copy. */
export type LocalSource = 'withheld' | 'open'

/**
 * The original of a text that its license does not let the service copy, if a page may link to it. The host of a local repository is this
 * service, which serves such a file only where its operator says so.
 */
export function originalHref(
  address: Address | undefined,
  sourceUrl: string | undefined,
  localSource: LocalSource,
): string | undefined {
  return address?.host === 'local' && localSource === 'withheld' ? undefined : webHref(sourceUrl)
}

/** Where pictures of other hosts come from, and which are of this service. */
export interface PictureOrigins {
  /** Whether this service cuts and draws pictures. */
  hasPictures: boolean
  /** Public origin of this service, without a trailing slash. */
  baseUrl: string
  hostUrls: HostUrls
}

/**
 * The picture of an address, which this service cuts to size: the operator's, or the file that a manifest names. Without one the picture of the
 * owner, and without that none. A picture at a URL of another host is not loaded from there, since the host would learn who reads what.
 */
export function pictureHref(
  address: string,
  { image, repository }: { image: string | null; repository: Repository },
  { hasPictures, baseUrl, hostUrls }: PictureOrigins,
): string | undefined {
  if (!hasPictures || repository.visibility !== 'public') return undefined
  const { host, owner, name, avatar } = repository
  const own = [`${baseUrl}/`, ...(hostUrls[host] === undefined ? [] : [`${hostUrls[host]}/${owner}/${name}/raw/`])]
  if (image !== null && own.some(prefix => image.startsWith(prefix))) return `/picture${address}`
  return avatar === null ? undefined : `/icon${address}`
}

export function isSkillPath(path: string): boolean {
  return baseNameOf(path as RepoPath) === SKILL_FILE
}

export function isManifestPath(path: string): boolean {
  return baseNameOf(path as RepoPath) === MANIFEST_FILE
}

export function isMarkdownPath(path: string): boolean {
  return /\.(?:md|markdown|mdown|mdx)$/i.test(path)
}

/** A file that an interpreter runs, by its ending. */
export function isScriptPath(path: string): boolean {
  return /\.(?:sh|bash|zsh|fish|ps1|bat|cmd|py|rb|pl|php|js|mjs|cjs)$/i.test(path)
}

/** The first folder of a path whose name begins with a dot; `null` without one. */
export function hiddenFolderOf(path: string): string | null {
  return /^(?:.*?\/)??\.[^/]*(?=\/)/.exec(path)?.[0] ?? null
}

/** In lower case, without its dot; of a name without one, the name: `makefile`. */
export function extensionOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('.')) + 1).toLowerCase()
}

/**
 * The target of a link in repository Markdown; `null` when it leads nowhere in the repository or the web.
 *
 * Web and mail links stay. A relative link is resolved from the folder of its file, one with a leading slash from the repository root. It
 * opens inside the mount if it can, else under the address of the repository root.
 *
 * @param href percent-encoded, from markdown-it
 * @param idPrefix prefix of the ids in this text
 */
export function resolveLink(address: Address, filePath: string, href: string, idPrefix: string): string | null {
  if (/^(?:https?:\/\/|mailto:)/i.test(href)) return href
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('//')) return null
  const [beforeFragment = '', fragment] = splitOnce(href, '#')
  const [target = ''] = splitOnce(beforeFragment, '?')
  if (target === '') return fragment === undefined || fragment === '' ? null : `#${idPrefix}${fragment}`

  const path = resolvePath(parentOf(filePath as RepoPath), target)
  if (path === null) return null
  const mount = addressShowing(address, path)
  if (target.endsWith('/') || path === ROOT) return pageHref(mount, 'browse', { path })
  return contentHref(mount, path)
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

interface CommitLinks {
  /** What changed since the commit; `null` for one since which nothing did. */
  since: string | null
  /** What the commit itself changed; `null` where the history begins. */
  own: string | null
}

/** Where the line of a commit in the history of a skill or a folder leads. */
export function commitLinks(address: Address, history: SkillHistory, { commit, parent }: SkillCommit): CommitLinks {
  const path = history.path || undefined
  // The history of a folder lacks some of its files, so they may have changed since.
  const newest = isSkillPath(history.path) ? history.commits[0]?.commit : history.commit
  return {
    since: commit === newest ? null : pageHref(address, 'changes', { path, from: commit }),
    own: parent === null ? null : pageHref({ ...address, ref: commit }, 'changes', { path, from: parent }),
  }
}
