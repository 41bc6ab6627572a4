import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ENDPOINTS } from '#core/contract/endpoints.ts'

/** An answer that is not a page may load nothing, and no page may frame it. Pages, pictures and files have policies of their own. */
const COMMON_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'strict-origin-when-cross-origin',
} as const

const API_HEADERS = { 'cache-control': 'no-store' } as const

/** What pages of other origins may read. Requests carry no credentials. */
export const CORS = {
  origin: '*',
  // A route for GET answers HEAD, too.
  methods: [...new Set(Object.values(ENDPOINTS).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))],
  exposedHeaders: ['x-request-id', 'retry-after', 'etag'],
  strictPreflight: false,
  maxAge: 86_400,
}

const CORS_HEADERS = {
  'access-control-allow-origin': CORS.origin,
  'access-control-expose-headers': CORS.exposedHeaders.join(', '),
} as const

export type CommonHeaders = Readonly<Record<string, string>>

/**
 * Headers of every answer of a deployment. Where its origin is `https:`, a browser that asked it once asks it by no other scheme for a year.
 *
 * @param origin public origin of the deployment
 */
export function commonHeaders(origin: string): CommonHeaders {
  return origin.startsWith('https:') ? { ...COMMON_HEADERS, 'strict-transport-security': 'max-age=31536000' } : COMMON_HEADERS
}

/** The request id is generated here, never taken from the client. */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply, common: CommonHeaders): void {
  // Copying the constants for every request would cost more than setting them.
  reply.header('x-request-id', request.id).headers(common)
}

/** Headers of every answer below `/api/v1`. */
export function setApiHeaders(reply: FastifyReply): void {
  reply.headers(API_HEADERS)
}

/** The CORS headers, for answers that are made before any hook runs. */
export function setCorsHeaders(reply: FastifyReply): void {
  reply.headers(CORS_HEADERS)
}

/** All of these but the request id, for answers that are made without Fastify. */
export function apiHeaders(common: CommonHeaders): Record<string, string> {
  return { ...common, ...API_HEADERS, ...CORS_HEADERS }
}

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
