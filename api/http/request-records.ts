import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Metrics } from '#core/ports/metrics.ts'
import type { LogRedaction } from '../people/log-redaction.ts'
import { ANY_ADDRESS } from './raw-target.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What the log has of the target of a request. */
    readonly loggedTargetOf: (request: { originalUrl: string; is404: boolean; rawAddress?: string | null }) => LoggedTarget
  }
}

/** What the log has of the target of a request. */
export interface LoggedTarget {
  path: string
  /** Stands for a repository that was not answered as public. */
  repo?: string
}

/**
 * The path of a request, without its query, which may hold what a person searches for. An address is in clear only if its repository was answered
 * as public; of a path that no route has, and of an address without a host of this deployment, only the beginning is.
 *
 * @param rawAddress see `FastifyRequest.rawAddress`
 * @param hosts host segments of this deployment
 */
export function loggedTarget(
  target: string,
  {
    isRoute,
    rawAddress,
    hosts,
    names,
  }: { isRoute: boolean; rawAddress: string | null; hosts: readonly string[]; names: LogRedaction },
): LoggedTarget {
  const path = target.split('?', 1)[0] ?? ''
  const segments = path.split('/')
  const at = hostIndex(path, rawAddress, hosts)
  // A slip in the host segment: what follows may be the name of a private repository.
  if (at < 0 && rawAddress) return { path: path.endsWith(rawAddress) ? `${path.slice(0, -rawAddress.length)}…` : '/…' }
  const [host = '', owner = '', rawRepository = ''] = at < 0 ? [] : segments.slice(at)
  if (owner === '' || rawRepository === '') return { path: isRoute || segments.length <= 2 ? path : `/${segments[1]}/…` }
  const repository = decode(rawRepository.split('@', 1)[0] ?? '')
  const name = { host: decode(host), owner: decode(owner), repository }
  if (names.isPublic(name)) return { path: isRoute || at === 1 ? path : `/…/${segments.slice(at).join('/')}` }
  return { path: `${isRoute ? segments.slice(0, at).join('/') : ''}/${decode(host)}/…`, repo: names.hashOf(name) }
}

/** The index of the host among the segments of a path; -1 when it has none. Only the first segment of an address is a host. */
function hostIndex(path: string, rawAddress: string | null, hosts: readonly string[]): number {
  const isHost = (segment: string) => hosts.includes(decode(segment))
  if (!rawAddress) return path.split('/').findIndex((segment, index) => index > 0 && isHost(segment))
  const begin = path.indexOf(`/${rawAddress}`)
  return begin >= 0 && isHost(rawAddress.split('/', 1)[0] ?? '') ? path.slice(0, begin + 1).split('/').length - 1 : -1
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Counts and times the requests that arrive by network. Calls of pages to the API in this process count as part of the page. */
export function countRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
    if (request.raw.socket instanceof Socket) {
      const route = labelOf(request)
      metrics.record('mountglass_http_requests_total', { route, status: String(statusCode) }, 1)
      metrics.record('mountglass_http_request_seconds', { route }, elapsedTime / 1000)
    }
    done()
  })
}

/** The pattern of the route, never the requested path, so that the number of labels is bounded. Static files count as one route. */
function labelOf({ is404, routeOptions: { url } }: FastifyRequest): string {
  if (is404 || url === undefined) return 'other'
  if (!url.startsWith('/api/') && !url.includes(`/${ANY_ADDRESS}/`) && /\.\w+$/.test(url)) return 'static'
  return url.endsWith(`/${ANY_ADDRESS}`) ? `${url.slice(0, -ANY_ADDRESS.length)}*` : url
}
