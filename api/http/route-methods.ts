import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'

/** Which methods the routes of a service have. */
export interface RouteMethods {
  /** The methods of the route with this path, as the router has it; `[]` when there is none. */
  of(path: string): string[]
  /** The same for a raw request target. */
  ofTarget(target: string): string[]
}

/** Path prefix of the interface. */
export const API = '/api/v1'

export function isApiPath(url: string | undefined): boolean {
  return url !== undefined && (url === API || url.startsWith(`${API}/`))
}

/** Collects the methods of the routes that are registered afterwards. The router itself parses a path as a pattern, and throws for some. */
export function collectMethods(app: FastifyInstance): RouteMethods {
  const methods = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set<string>()
    methods.set(url, known)
    for (const one of [method].flat()) known.add(one)
  })
  const of = (path: string) => {
    const known = methods.get(path) ?? []
    return [...known, ...(methods.has(path) && isApiPath(path) ? ['OPTIONS'] : [])].sort()
  }
  return { of, ofTarget: target => of(pathOf(app.rawPrefixes.rewriteUrl({ url: target } as IncomingMessage))) }
}

/**
 * Refuses a request without a route, before its body is read. A path that no route has, asked with GET or HEAD, is left to the not-found page
 * outside of the interface.
 *
 * @throws ServiceError `request.method_not_allowed`, with the header `allow`, when the path is a route of another method; else `request.not_found`
 */
export function refuseUnknownRoute(methods: RouteMethods, request: FastifyRequest, reply: FastifyReply): void {
  if (!request.is404) return
  const allowed = methods.of(pathOf(request.url))
  if (allowed.length > 0) {
    reply.header('allow', allowed.join(', '))
    throw new ServiceError('request.method_not_allowed')
  }
  if (isApiPath(request.url) || !['GET', 'HEAD'].includes(request.method)) throw new ServiceError('request.not_found')
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}
