import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'

/**
 * Refuses a request without a route, before its body is read.
 *
 * @throws ServiceError `request.method_not_allowed`, with the header `allow`, when the path is a route of another method; else `request.not_found`
 */
export function refuseUnknownRoute(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): void {
  if (!request.is404) return
  const path = request.url.split('?', 1)[0] ?? ''
  if (!app.hasRoute({ method: 'GET', url: path })) throw new ServiceError('request.not_found')
  reply.header('allow', 'GET, HEAD, OPTIONS')
  throw new ServiceError('request.method_not_allowed')
}
