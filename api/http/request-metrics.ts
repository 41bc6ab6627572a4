import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Metrics } from '#core/ports/metrics.ts'
import { ANY_ADDRESS } from './raw-target.ts'

/** Counts and times the requests that arrive by network. Calls of pages to the API in this process count as part of the page. */
export function countRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    if (!(request.raw.socket instanceof Socket)) return
    const route = routeLabel(request)
    metrics.record('mountglass_http_requests_total', { route, status: String(reply.statusCode) }, 1)
    metrics.record('mountglass_http_request_seconds', { route }, reply.elapsedTime / 1000)
  })
}

/** The pattern of the route, never the requested path, so that the number of labels is bounded. Static files count as one route. */
function routeLabel({ is404, routeOptions: { url } }: FastifyRequest): string {
  if (is404 || url === undefined) return 'other'
  if (!url.startsWith('/api/') && /\.\w+$/.test(url)) return 'static'
  return url.endsWith(`/${ANY_ADDRESS}`) ? `${url.slice(0, -ANY_ADDRESS.length)}*` : url
}
