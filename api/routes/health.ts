import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'

/** `/healthz`: the process answers. `/readyz`: its stores take writes, and it is not about to stop. */
export function registerHealth(app: FastifyInstance, deps: Pick<Deps, 'checkReady'>): void {
  app.get('/healthz', { schema: { hide: true } }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  )

  app.get('/readyz', { schema: { hide: true } }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    try {
      await deps.checkReady()
      return { status: 'ready' }
    } catch (error) {
      request.log.warn({ err: error }, 'not ready')
      return reply.code(503).send({ status: 'unavailable' })
    }
  })
}

/** The metrics of this process in Prometheus text format. */
export type ReadMetrics = () => Promise<{ contentType: string; text: string }>

/** `/metrics`: load and health, without names of repositories or people. The operator decides who may reach it. */
export function registerMetrics(app: FastifyInstance, read: ReadMetrics): void {
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    const { contentType, text } = await read()
    return reply.header('cache-control', 'no-store').type(contentType).send(text)
  })
}
