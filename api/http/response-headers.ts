import type { FastifyReply, FastifyRequest } from 'fastify'
import { answeredMethods, METHODS } from './methods.ts'

/** Headers of every answer to a request that parses as HTTP; `api/app.ts` answers other bytes. The request id is never taken from the client. */
export function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  reply.header('x-content-type-options', 'nosniff')
  reply.header('x-frame-options', 'DENY')
  reply.header('referrer-policy', 'strict-origin-when-cross-origin')
}

/** Headers of every answer below `/api/v1`. */
export function setApiHeaders(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
  reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
}

/** What pages of other origins may read. Requests carry no credentials. */
export const CORS = {
  origin: '*',
  methods: answeredMethods(METHODS),
  exposedHeaders: ['x-request-id', 'retry-after'],
  strictPreflight: false,
  maxAge: 86_400,
}

/** The CORS headers, for answers that are made before any hook runs. */
export function setCorsHeaders(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', CORS.origin)
  reply.header('access-control-expose-headers', CORS.exposedHeaders.join(', '))
}
