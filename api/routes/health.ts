import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'

/** `/healthz`: the process answers. `/readyz`: so does its store. */
export function registerHealth(app: FastifyInstance, deps: Pick<Deps, 'probeStore'>): void {
  app.get('/healthz', { schema: { hide: true } }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  )

  app.get('/readyz', { schema: { hide: true } }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    try {
      await deps.probeStore()
      return { status: 'ready' }
    } catch (error) {
      request.log.warn({ err: error }, 'the store does not answer')
      return reply.code(503).send({ status: 'unavailable' })
    }
  })
}
