import type { IncomingMessage } from 'node:http'
import { HOST_NAMES } from '#core/address.ts'
import { ENDPOINTS, type Endpoint } from '#core/contract/endpoints.ts'
import { QUERY_STRING_BYTES } from '#core/limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * What follows the prefix of a route that takes an address or an owner, raw: still percent-encoded, nothing normalised.
     * With its host segment for the page of an address. `null` on every other route.
     */
    readonly rawAddress: string | null
  }
}

/** The path that stands for any address where routes are declared. */
export const ANY_ADDRESS = '~'

/** The route of an endpoint, below `/api/v1`. What its path names is raw from behind the first segment on. */
export function routeOf({ path, subject }: Pick<Endpoint, 'path' | 'subject'>): string {
  return subject === 'none' ? path : path.replace(/^(\/[^/]+)\/.*$/, `$1/${ANY_ADDRESS}`)
}

/** Routes that take an address or an owner: those of the contract, the raw files of a local host, the operator's media, and the pages of addresses and accounts. */
const ENDPOINT_PREFIXES = Object.values(ENDPOINTS)
  .filter(({ subject }) => subject !== 'none')
  .map(endpoint => `api/v1${routeOf(endpoint).replace(`/${ANY_ADDRESS}`, '')}`)
const PREFIXES = [...ENDPOINT_PREFIXES, 'git', 'media', 'owners']
const PAGES = Object.keys(HOST_NAMES)
// Nothing behind the prefix of owners is no owner; elsewhere it is no route.
const ADDRESSED = new RegExp(`^/(${[...PREFIXES, ...PAGES].join('|')})(?:/|(?<=/owners)(?=\\?|$))([^?]*)(\\?.*)?$`, 's')

const rawAddresses = new WeakMap<IncomingMessage, string>()

export function rawAddressOf(request: IncomingMessage): string | null {
  return rawAddresses.get(request) ?? null
}

/**
 * The URL by which Fastify routes a request.
 *
 * Fastify decodes paths before anything of ours runs: `%2F` becomes a slash, and a malformed escape is answered outside of every hook. So
 * the address is taken out of the target first, and the route is found as `<prefix>/~`. No other route has a name with an escape in it:
 * what spells one so (`/%6detrics`) is none, as it is none for the rules of whatever stands before this process.
 */
export function rewriteUrl(request: IncomingMessage): string {
  const target = toOriginForm(request.url ?? '/')
  const [, prefix, rest, query = ''] = ADDRESSED.exec(target) ?? []
  if (prefix === undefined || rest === undefined) return target.replace(/^[^?]*/, withoutEscapes)
  rawAddresses.set(request, PAGES.includes(prefix) ? `${prefix}/${rest}` : rest)
  return `/${prefix}/${ANY_ADDRESS}${query}`
}

/** The path as it is written, so that its escapes are none. One that is malformed stays: it is refused for that. */
function withoutEscapes(path: string): string {
  return decode(path) === null ? path : path.replaceAll('%', '%25')
}

/** Path and query of a request target: without scheme and authority, without fragment. Node refuses targets that are not ASCII. */
function toOriginForm(target: string): string {
  const path = target.replace(/#.*$/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  return path.startsWith('/') || path === '*' ? path : `/${path}`
}

/**
 * Parses a query string strictly. Parameters that are repeated come as a list, so that no schema of a text takes them.
 * It must not throw, since Fastify calls it outside of every handler: what is malformed or too long comes as a parameter that no schema knows.
 */
export function parseQueryString(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null)
  if (text.length > QUERY_STRING_BYTES) return { [MALFORMED]: '' }
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1))
    if (name === null || value === null) return { [MALFORMED]: '' }
    const earlier = query[name]
    query[name] = earlier === undefined ? value : [earlier, value].flat()
  }
  return query
}

const MALFORMED = '%'

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
