import type { FastifyInstance } from 'fastify'

/** The metrics of this process in Prometheus text format. */
export type ReadMetrics = () => Promise<{ contentType: string; text: string }>

/** `/metrics`: load and health, without names of repositories or people. The operator decides who may reach it. */
export function registerMetrics(app: FastifyInstance, read: ReadMetrics): void {
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    const { contentType, text } = await read()
    return reply.header('cache-control', 'no-store').type(contentType).send(text)
  })
}
