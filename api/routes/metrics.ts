import type { FastifyInstance } from 'fastify'

/** What Prometheus reads of this process. */
export type ReadMetrics = () => Promise<{ contentType: string; text: string }>

/** `/metrics`. It tells of load and health, and names no repository and nobody; who may see it is for the operator to say. */
export function registerMetrics(app: FastifyInstance, read: ReadMetrics): void {
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    const { contentType, text } = await read()
    return reply.header('cache-control', 'no-store').type(contentType).send(text)
  })
}
