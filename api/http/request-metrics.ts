import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Metrics } from '#core/ports/metrics.ts'
import { ANY_ADDRESS } from './raw-target.ts'

/** What is recorded of one route. */
interface RouteTally {
  route: string
  /** Answers since the metrics were last read, by status. */
  answered: Map<number, number>
}

/**
 * Counts and times the requests that arrive by network. Calls of pages to the API in this process count as part of the page.
 * Each request adds to local numbers, which the next reading of the metrics records: requests are many.
 */
export function countRequests(app: FastifyInstance, metrics: Metrics): void {
  const tallies = new Map<string, RouteTally>()

  function tallyOf(pattern: string): RouteTally {
    const before = tallies.get(pattern)
    if (before) return before
    const tally = { route: labelOf(pattern), answered: new Map<number, number>() }
    tallies.set(pattern, tally)
    return tally
  }

  app.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
    if (request.raw.socket instanceof Socket) {
      const { route, answered } = tallyOf(patternOf(request))
      answered.set(statusCode, (answered.get(statusCode) ?? 0) + 1)
      metrics.record('mountglass_http_request_seconds', { route }, elapsedTime / 1000)
    }
    done()
  })
  metrics.beforeRead(() => {
    for (const { route, answered } of tallies.values()) {
      for (const [status, count] of answered)
        metrics.record('mountglass_http_requests_total', { route, status: String(status) }, count)
      answered.clear()
    }
  })
}

/** The pattern of the route, never the requested path, so that the number of labels is bounded. */
function patternOf({ is404, routeOptions: { url } }: FastifyRequest): string {
  return is404 || url === undefined ? '' : url
}

/** Static files count as one route. */
function labelOf(pattern: string): string {
  if (pattern === '') return 'other'
  if (!pattern.startsWith('/api/') && !pattern.includes(`/${ANY_ADDRESS}/`) && /\.\w+$/.test(pattern)) return 'static'
  return pattern.endsWith(`/${ANY_ADDRESS}`) ? `${pattern.slice(0, -ANY_ADDRESS.length)}*` : pattern
}
