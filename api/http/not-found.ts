import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import { answeredMethods, METHODS } from './methods.ts'

/**
 * Refuses a request without a route, before its body is read.
 *
 * @throws ServiceError `request.method_not_allowed`, with the header `allow`, when the path is a route of another method; else `request.not_found`
 */
export function refuseUnknownRoute(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): void {
  if (!request.is404) return
  const path = request.url.split('?', 1)[0] ?? ''
  const methods = METHODS.filter(method => app.hasRoute({ method, url: path }))
  if (methods.length === 0) throw new ServiceError('request.not_found')
  reply.header('allow', [...answeredMethods(methods), 'OPTIONS'].join(', '))
  throw new ServiceError('request.method_not_allowed')
}
