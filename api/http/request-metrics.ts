import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Metrics } from '#core/ports/metrics.ts'
import { ANY_ADDRESS } from './raw-target.ts'

/** Counts and times the requests of the network. What pages ask of the API within this process is a part of theirs. */
export function countRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    if (!(request.raw.socket instanceof Socket)) return
    const route = routeLabel(request)
    metrics.record('mountglass_http_requests_total', { route, status: String(reply.statusCode) }, 1)
    metrics.record('mountglass_http_request_seconds', { route }, reply.elapsedTime / 1000)
  })
}

/** The pattern of the route, never what was asked for: there are only so many. Files of the pages count as one. */
function routeLabel({ is404, routeOptions: { url } }: FastifyRequest): string {
  if (is404 || url === undefined) return 'other'
  if (!url.startsWith('/api/') && /\.\w+$/.test(url)) return 'static'
  return url.endsWith(`/${ANY_ADDRESS}`) ? `${url.slice(0, -ANY_ADDRESS.length)}*` : url
}
