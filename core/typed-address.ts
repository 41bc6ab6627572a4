import { type Address, type OwnerName, parseAddress, parseOwner } from './address.ts'
import { ServiceError } from './errors.ts'
import { type RepoPath, ROOT } from './repo-path.ts'

/** The meaning of a text that a person writes where an address is asked for. */
export type TypedAddress =
  /** `file`: the text is the URL of a file at GitHub; the address is that of its repository. `query`: of a page of this service. */
  | { kind: 'address'; address: Address; file?: RepoPath; query?: string }
  | { kind: 'owner'; owner: OwnerName }
  /** `code`: of the address, where the text is close to one. */
  | { kind: 'unreadable'; code: string | null; message: string }

export interface TypedContext {
  /** Host segments that this deployment serves. */
  hosts: readonly string[]
  /** Public origin without a trailing slash. */
  baseUrl: string
}

/** The host segment whose accounts have pages. */
const ACCOUNT_HOST = 'gh'

/**
 * Reads an address with or without its leading slash, the URL of a page of this service, a GitHub URL from a browser or a clone command,
 * and `owner/repository` where GitHub is served. Also the URL of an account.
 */
export function readTypedAddress(text: string, { hosts, baseUrl }: TypedContext): TypedAddress {
  const words = text.trim()
  if (words === '') return unreadable(null, `write an address: ${startsOf(hosts)} with an owner and a repository`)
  if (words.startsWith(`${baseUrl}/`)) return readPage(words.slice(baseUrl.length), hosts)
  const github = /^(?:(?:https?:\/\/)?(?:www\.)?github\.com\/|(?:ssh:\/\/)?git@github\.com[:/])(.*)$/is.exec(words)
  if (github) return readGithub(github[1] ?? '', hosts)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(words)) {
    const known = hosts.includes('gh') ? 'and of github.com ' : ''
    return unreadable(null, `only addresses of this deployment ${known}can be opened`)
  }
  const short = /^[^/@]+\/[^/]+/.test(words) && hosts.includes('gh') && !hosts.includes(words.split('/')[0] ?? '')
  return readPage(short ? `gh/${words}` : words, hosts)
}

/** Where addresses of these hosts start: `gh/ or local/`. */
function startsOf(hosts: readonly string[]): string {
  return hosts.map(host => `${host}/`).join(' or ')
}

/** An address with the query of a page, if it has one. */
function readPage(rawTarget: string, hosts: readonly string[]): TypedAddress {
  const [rawAddress = '', query] = rawTarget.split(/\?(?=view=)(.*)$/s)
  const read = readAddress(rawAddress, hosts)
  return read.kind === 'address' && query !== undefined ? { ...read, query: query.replace(/#.*$/s, '') } : read
}

/** `owner/repository`, `owner/repository.git`, `…/tree/<ref>/<folder>`, `…/blob/<ref>/<file>`; the ref is taken as one segment. */
function readGithub(rest: string, hosts: readonly string[]): TypedAddress {
  const [owner = '', repository = '', kind, ref, ...path] = rest
    .replace(/[?#].*$/s, '')
    .replace(/\/+$/, '')
    .split('/')
  const root = `gh/${owner}/${repository.replace(/\.git$/, '')}`
  if ((kind !== 'tree' && kind !== 'blob') || ref === undefined) return readAddress(root, hosts)
  const read = readAddress([`${root}@${ref}`, ...path].join('/'), hosts)
  if (read.kind !== 'address' || kind === 'tree' || read.address.path === ROOT) return read
  return { ...read, address: { ...read.address, path: ROOT }, file: read.address.path }
}

function readAddress(rawAddress: string, hosts: readonly string[]): TypedAddress {
  try {
    return { kind: 'address', address: parseAddress(rawAddress, hosts) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const owner = readOwner(rawAddress.replace(/^\/?owners\//, '').replace(/[?#].*$/s, ''))
    if (owner && hosts.includes(owner.host)) return { kind: 'owner', owner }
    const start = error.code === 'address.unknown_host' ? `; an address starts with ${startsOf(hosts)}` : ''
    return unreadable(error.code, `${error.message}${start}`)
  }
}

function readOwner(raw: string): OwnerName | null {
  try {
    return parseOwner(raw, [ACCOUNT_HOST])
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return null
  }
}

function unreadable(code: string | null, message: string): TypedAddress {
  return { kind: 'unreadable', code, message }
}
