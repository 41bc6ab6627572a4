import { type Address, formatAddress } from '#core/address.ts'
import { ROOT } from '#core/repo-path.ts'
import { contentHref, ownerHref } from './links.ts'
import { readAddress, readOwner } from './read-address.ts'

/** The page for a text in the address field, or the error to show. */
export type OpenTarget = { location: string } | { message: string }

export interface OpenContext {
  /** Host segments that this deployment serves. */
  hosts: readonly string[]
  /** Public origin without a trailing slash. */
  baseUrl: string
}

/**
 * Accepts an address with or without its leading slash, the URL of a page of this service, a GitHub URL from a browser or a clone command,
 * and `owner/repository` where GitHub is served. The URL of an account leads to the page of the account.
 */
export function openTarget(text: string, { hosts, baseUrl }: OpenContext): OpenTarget {
  const words = text.trim()
  if (words === '') return { message: `Write an address: ${startsOf(hosts)} with an owner and a repository.` }
  if (words.startsWith(`${baseUrl}/`)) return openPage(words.slice(baseUrl.length), hosts)
  const github = /^(?:(?:https?:\/\/)?(?:www\.)?github\.com\/|(?:ssh:\/\/)?git@github\.com[:/])(.*)$/is.exec(words)
  if (github) return openGithub(github[1] ?? '', hosts)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(words))
    return { message: `Only addresses of this deployment ${hosts.includes('gh') ? 'and of github.com ' : ''}can be opened.` }
  const short = /^[^/@]+\/[^/]+/.test(words) && hosts.includes('gh') && !hosts.includes(words.split('/')[0] ?? '')
  return openPage(short ? `gh/${words}` : words, hosts)
}

/** An address with the query of a page, if it has one. */
function openPage(rawTarget: string, hosts: readonly string[]): OpenTarget {
  const [rawAddress = '', query] = rawTarget.split(/\?(?=view=)(.*)$/s)
  const parameters = query === undefined ? '' : `?${new URLSearchParams(query.replace(/#.*$/s, ''))}`
  return open(rawAddress, hosts, address => formatAddress(address) + parameters)
}

/** `owner/repository`, `owner/repository.git`, `…/tree/<ref>/<folder>`, `…/blob/<ref>/<file>`; the ref is taken as one segment. */
function openGithub(rest: string, hosts: readonly string[]): OpenTarget {
  const [owner = '', repository = '', kind, ref, ...path] = rest
    .replace(/[?#].*$/s, '')
    .replace(/\/+$/, '')
    .split('/')
  const root = `gh/${owner}/${repository.replace(/\.git$/, '')}`
  if ((kind !== 'tree' && kind !== 'blob') || ref === undefined) return open(root, hosts, formatAddress)
  return open([`${root}@${ref}`, ...path].join('/'), hosts, address =>
    kind === 'tree' || address.path === '' ? formatAddress(address) : contentHref({ ...address, path: ROOT }, address.path),
  )
}

function open(rawAddress: string, hosts: readonly string[], locate: (address: Address) => string): OpenTarget {
  const read = readAddress(rawAddress, hosts)
  if ('address' in read) return { location: locate(read.address) }
  const account = readOwner(rawAddress.replace(/^\/?owners\//, '').replace(/[?#].*$/s, ''))
  if ('owner' in account && hosts.includes(account.host)) return { location: ownerHref(account.owner) }
  const { code, message } = read.error
  return {
    message: `Not an address: ${message}${code === 'address.unknown_host' ? `; an address starts with ${startsOf(hosts)}` : ''}.`,
  }
}

function startsOf(hosts: readonly string[]): string {
  return hosts.map(host => `${host}/`).join(' or ')
}
