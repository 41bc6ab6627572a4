import type { FastifyInstance } from 'fastify'
import { setCorsHeaders } from './response-headers.ts'

/** What a page may send along. `*` stands for every header but the one of credentials, which is not read here. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'authorization, *',
  'access-control-max-age': '86400',
} as const

/** Lets pages of every origin read the routes that an instance registers afterwards: they are the same for everybody, and read no cookie. */
export function allowAnyOrigin(instance: FastifyInstance): void {
  instance.addHook('onRequest', (_request, reply, done) => {
    setCorsHeaders(reply)
    done()
  })
  instance.addHook('onRoute', ({ method, url }) => {
    if (![method].flat().includes('GET')) return
    instance.options(url, { schema: { hide: true } }, async (_request, reply) =>
      reply.headers(PREFLIGHT_HEADERS).code(204).send(),
    )
  })
}
