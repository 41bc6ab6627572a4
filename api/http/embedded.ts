import type { FastifyReply, FastifyRequest } from 'fastify'
import { loggedError } from './error-handler.ts'

/** Headers of what pages of any origin embed: a hook `onRequest`. Nothing in it runs when it is opened by itself. */
export function setEmbeddedHeaders(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.headers({ 'content-security-policy': "default-src 'none'; sandbox", 'cross-origin-resource-policy': 'cross-origin' })
  done()
}

/** Pictures are read by programs that show them or do not: every address without a picture is the same 404, whatever is wrong with it. */
export function answerPlainly(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, details } = loggedError(thrown, request)
  const [code, text] = status >= 500 ? [status, 'not available now\n'] : [404, 'not found\n']
  if (code !== 404 && details.retryAfter !== undefined) reply.header('retry-after', Math.ceil(details.retryAfter))
  return reply.code(code).header('cache-control', 'no-store').type('text/plain; charset=utf-8').send(text)
}
