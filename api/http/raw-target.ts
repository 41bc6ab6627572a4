import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '#core/contract/endpoints.ts'
import { QUERY_STRING_BYTES } from '#core/limits.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** See `FastifyRequest.rawAddress`. Set before Fastify sees the request. */
    rawAddress?: string
    /** See `FastifyRequest.rawRest`. */
    rawRest?: string
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What follows the declared prefix of the route, raw: percent-encoded, not normalised. `null` on every other route. */
    readonly rawAddress: string | null
    /** What follows the address and a declared path below it, raw; empty on every other route. */
    readonly rawRest: string
  }
  interface FastifyInstance {
    /** The prefixes of this service, see `declarePrefix`. */
    readonly rawPrefixes: RawPrefixes
    /** `declarePrefix` for plugins that know nothing of this module, the pages for example. */
    declarePrefix(prefix: string, options?: PrefixOptions): string
  }
}

export interface PrefixOptions {
  /** `/<prefix>` alone is the route with an empty address; default: it is another route. */
  isBareAllowed?: boolean
  /** The raw address begins with the prefix itself, a host segment for example; default: with what follows it. */
  isPartOfAddress?: boolean
}

/** The path segment that stands for any address where routes are declared. */
export const ANY_ADDRESS = '~'

/** The route of an endpoint, below `/api/v1`. The part of its path that names the subject is taken raw. */
export function routeOf({ path, subject }: Pick<Endpoint, 'path' | 'subject'>): string {
  if (subject === 'none') return path
  // The whole path after `/owners` is parsed, so that a wrong host is `owner.invalid`.
  return path.replace(subject === 'owner' ? /\/gh\/\{owner\}$/ : /\/\{[a-z]+\}$/, `/${ANY_ADDRESS}`)
}

/** The prefixes after which paths are taken raw. */
export interface RawPrefixes {
  add(prefix: string, options: PrefixOptions): void
  /** @param path see `declareBelow` */
  addBelow(path: string): void
  /**
   * Returns the URL that Fastify routes.
   *
   * Fastify decodes a path before any hook runs: it turns `%2F` into a slash, and it answers a malformed escape itself. So this moves the
   * address into `rawAddress` and puts `~` in its place. In every other path it escapes `%`: `/%6detrics` matches no route, and cannot bypass
   * a proxy's rule about a path.
   */
  rewriteUrl(request: IncomingMessage): string
}

export function createRawPrefixes(): RawPrefixes {
  const prefixes = new Map<string, PrefixOptions>()
  const below = new Set<string>()
  let pattern: RegExp | null = null

  function compile(): RegExp {
    const bare = [...prefixes].filter(([, { isBareAllowed }]) => isBareAllowed).map(([prefix]) => prefix)
    const afterBare = bare.length === 0 ? '' : `|(?<=^/(?:${bare.map(RegExp.escape).join('|')}))(?=\\?|$)`
    return new RegExp(`^/(${[...prefixes.keys()].map(RegExp.escape).join('|')})(?:/${afterBare})([^?]*)(\\?.*)?$`, 's')
  }

  return {
    add(prefix, options) {
      prefixes.set(prefix, options)
      pattern = null
    },
    addBelow: path => below.add(path),
    rewriteUrl(request) {
      const target = toOriginForm(request.url ?? '/')
      pattern ??= compile()
      const [, prefix, rest, query = ''] = prefixes.size === 0 ? [] : (pattern.exec(target) ?? [])
      if (prefix === undefined || rest === undefined) return target.replace(/^[^?]*/, withoutEscapes)
      const isPart = prefixes.get(prefix)?.isPartOfAddress === true
      const split = isPart ? splitBelow(rest, below) : null
      if (split !== null) request.rawRest = split.rest
      request.rawAddress = isPart ? `${prefix}/${split?.address ?? rest}` : rest
      return `/${prefix}/${ANY_ADDRESS}${split?.path ?? ''}${query}`
    },
  }
}

/**
 * Has paths below `<prefix>/` taken raw, for a route of this instance.
 *
 * @param prefix below the prefix of the instance, with its leading slash
 * @returns the path to register the route under
 */
export function declarePrefix(app: FastifyInstance, prefix: string, options: PrefixOptions = {}): string {
  app.rawPrefixes.add(`${app.prefix}${prefix}`.slice(1), options)
  return `${prefix}/${ANY_ADDRESS}`
}

/**
 * Declares a path that may follow any address and has routes of its own, below prefixes declared with `isPartOfAddress`. Folders of that name cannot be
 * mounted.
 *
 * @param path `/llms.txt`; with a slash at its end, whatever follows it comes as `rawRest`
 * @returns what to append to the path of a prefix
 */
export function declareBelow(app: FastifyInstance, path: string): string {
  app.rawPrefixes.addBelow(path)
  return path
}

/** Splits the end off that a declared path begins; `null` when there is none. */
function splitBelow(target: string, paths: ReadonlySet<string>): { address: string; path: string; rest: string } | null {
  for (const path of paths) {
    const at = path.endsWith('/') ? target.lastIndexOf(path) : target.endsWith(path) ? target.length - path.length : -1
    if (at > 0) return { address: target.slice(0, at), path, rest: target.slice(at + path.length) }
  }
  return null
}

/** Escapes every `%`, so that Fastify decodes none. A path with a malformed escape stays as it is, and Fastify refuses it. */
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

/** Name of the parameter that stands for a query string which cannot be parsed. */
export const MALFORMED = '%'

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
