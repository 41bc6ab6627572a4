import { isCommitSha } from './commit-sha.ts'
import { ServiceError } from './errors.ts'
import { ADDRESS_BYTES, ADDRESS_SEGMENTS } from './limits.ts'
import { isPathSegment, type RepoPath } from './repo-path.ts'
import { utf8Length } from './text.ts'

/** A parsed address: `/<host>/<owner>/<repository>[@<ref>][/<path>]`. */
export interface Address {
  /** Host segment: `gh`, `local`. */
  host: string
  owner: string
  repository: string
  /** The requested ref, decoded; a commit hash in lower case; `null` for the default branch. */
  ref: string | null
  /** Mounted folder; `''` for the root. */
  path: RepoPath
}

/** The names that a host allows. */
interface HostNames {
  owner: RegExp
  repository: RegExp
}

/** The hosts of the address grammar, by segment. Folders whose names begin with a dot are hidden, but for those that have a meaning at GitHub. A deployment serves some or all of them. */
export const HOST_NAMES = {
  gh: { owner: /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})$/, repository: /^(?!\.{1,2}$)(?!.*\.git$)[A-Za-z0-9._-]{1,100}$/i },
  local: {
    owner: /^(?!\.)[A-Za-z0-9._-]{1,100}$/,
    repository: /^(?!\.(?!github(?:-private)?$))(?!.*\.git$)[A-Za-z0-9._-]{1,100}$/,
  },
} as const satisfies Readonly<Record<string, HostNames>>

/**
 * Parses a percent-encoded address, with or without its leading slash.
 *
 * Splits the text on `/` first, then decodes every segment once, so `%2F` never separates segments. The bound on bytes counts the leading
 * slash, and no trailing one.
 *
 * @param hosts host segments that this deployment serves
 * @throws ServiceError `address.*`
 */
export function parseAddress(raw: string, hosts: readonly string[]): Address {
  const text = raw.replace(/^\//, '').replace(/\/$/, '')
  const segments = text.split('/')
  if (isTooLong(`/${text}`) || segments.length > ADDRESS_SEGMENTS) throw new ServiceError('address.too_long')

  const [rawHost = '', rawOwner = '', rawRepository = '', ...rawPath] = segments
  const at = rawRepository.indexOf('@')
  const host = decodeSegment(rawHost)
  const owner = decodeSegment(rawOwner)
  const repository = decodeSegment(at < 0 ? rawRepository : rawRepository.slice(0, at))
  const ref = at < 0 ? null : decodeSegment(rawRepository.slice(at + 1))
  const path = rawPath.map(segment => decodeSegment(segment))

  const names = hosts.includes(host) ? (HOST_NAMES as Readonly<Record<string, HostNames>>)[host] : undefined
  if (!names) throw new ServiceError(host === '' ? 'address.incomplete' : 'address.unknown_host')
  if (owner === '' || repository === '') throw new ServiceError('address.incomplete')
  if (!names.owner.test(owner)) throw new ServiceError('address.invalid_owner')
  if (!names.repository.test(repository)) throw new ServiceError('address.invalid_repository')
  if (ref !== null && !isRefName(ref)) throw new ServiceError('address.invalid_ref')
  if (!path.every(isPathSegment)) throw new ServiceError('address.invalid_path')

  const address = { host, owner, repository, ref: ref && canonicalRef(ref), path: path.join('/') as RepoPath }
  // Its canonical form may have more escapes. What is answered as an address must be accepted as one.
  if (isTooLong(formatAddress(address))) throw new ServiceError('address.too_long')
  return address
}

function isTooLong(address: string): boolean {
  return utf8Length(address) > ADDRESS_BYTES
}

/** A commit hash in lower case; other refs as they are. */
export function canonicalRef(ref: string): string {
  return isCommitSha(ref) ? ref.toLowerCase() : ref
}

/** The account of an owner page. */
export interface OwnerName {
  host: string
  owner: string
}

/**
 * Parses the percent-encoded path after `/owners`: `/<host>/<owner>`, with or without leading and trailing slash.
 *
 * @param hosts host segments of this deployment that list accounts
 * @throws ServiceError `owner.invalid`
 */
export function parseOwner(raw: string, hosts: readonly string[]): OwnerName {
  const segments = raw.replace(/^\//, '').replace(/\/$/, '').split('/')
  const [host = '', owner = ''] = segments.map(segment => decodeSegment(segment, 'owner.invalid'))
  const names = hosts.includes(host) ? (HOST_NAMES as Readonly<Record<string, HostNames>>)[host] : undefined
  if (segments.length !== 2 || !names?.owner.test(owner)) throw new ServiceError('owner.invalid')
  return { host, owner }
}

/** The canonical address, with a leading slash: `parseAddress(formatAddress(address))` is the address. */
export function formatAddress(address: Address): string {
  const ref = address.ref === null ? '' : `@${encodeSegment(address.ref)}`
  const path = address.path === '' ? '' : `/${address.path.split('/').map(encodeSegment).join('/')}`
  return `/${encodeSegment(address.host)}/${encodeSegment(address.owner)}/${encodeSegment(address.repository)}${ref}${path}`
}

/** The same address at another folder. */
export function atPath(address: Address, path: RepoPath): Address {
  return { ...address, path }
}

/** Whether git would accept the text as the name of a branch or tag (git-check-ref-format). */
export function isRefName(text: string): boolean {
  if (text === '' || text === '@' || text.startsWith('-') || text.endsWith('.') || !text.isWellFormed()) return false
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.test(text)) return false
  return text.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}

/**
 * The full names that a ref may stand for, best first: a branch wins over a tag of the same name. Empty for `HEAD` and for refs that are
 * neither branches nor tags: the head of a pull request is not the owner's text, although it has the owner's name in the address.
 *
 * @param ref a ref name, no commit hash
 */
export function refNames(ref: string): readonly string[] {
  if (ref === 'HEAD' || !isRefName(ref)) return []
  if (!ref.startsWith('refs/')) return [`refs/heads/${ref}`, `refs/tags/${ref}`]
  return /^refs\/(?:heads|tags)\//.test(ref) ? [ref] : []
}

function decodeSegment(raw: string, code: 'address.invalid_escape' | 'owner.invalid' = 'address.invalid_escape'): string {
  try {
    return decodeURIComponent(raw)
  } catch (cause) {
    throw new ServiceError(code, { cause })
  }
}

// Keeps the characters that a URL path segment may hold unescaped (RFC 3986, pchar).
function encodeSegment(text: string): string {
  if (/^[\w.-]*$/.test(text)) return text
  return encodeURIComponent(text).replace(/%(?:40|3A|24|26|2B|2C|3B|3D)/g, decodeURIComponent)
}
