import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Metrics } from '#core/ports/metrics.ts'
import { ANY_ADDRESS } from './raw-target.ts'

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
