import type { FastifyReply } from 'fastify'
import { ServiceError } from '#core/errors.ts'

/** Aborts once the answer was sent or its client went away, which is no fault of the service. */
export function untilLeft({ raw: response }: FastifyReply): AbortSignal {
  const left = new AbortController()
  const leave = () => left.abort(new ServiceError('request.invalid', { message: 'the client went away' }))
  if (response.closed || response.destroyed) leave()
  response.once('close', leave)
  return left.signal
}
