import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { RequestValidationError } from 'fastify-zod-openapi'
import type { ErrorAnswer } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { DamagedSnapshot } from '../snapshot/unavailable.ts'

/** Answers whatever was thrown, in the one shape of the interface. */
export function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toServiceError(thrown)
  if (error.status >= 500) logFailure(request, error)
  if (error.details.retryAfter !== undefined) reply.header('retry-after', Math.ceil(error.details.retryAfter))
  reply.code(error.status).send(errorBody(error))
}

export function errorBody(error: ServiceError): ErrorAnswer {
  return { error: { code: error.code, message: error.message, ...error.details } }
}

/** What of a failure the interface names. Everything else is our fault, and its details stay in the log. */
function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  const { code = '', statusCode = 500, validation } = thrown as Partial<FastifyError>
  if (validation) return new ServiceError('request.invalid', { message: validationMessage(validation), cause: thrown })
  if (code.startsWith('FST_') && statusCode < 500) return new ServiceError('request.invalid', { cause: thrown })
  return new ServiceError('service.internal', { cause: thrown })
}

function validationMessage(problems: NonNullable<FastifyError['validation']>): string {
  const names = problems.map(problem => {
    const name = problem instanceof RequestValidationError ? problem.params.issue.path[0] : undefined
    return name === undefined ? 'an unknown parameter' : `parameter ${String(name)}`
  })
  return `${[...new Set(names)].join(', ')}: missing, repeated, malformed, not known here or out of bounds`
}

function logFailure(request: FastifyRequest, error: ServiceError): void {
  // Whoever came upon it first told of it.
  if (error.cause instanceof DamagedSnapshot) return
  const facts = { err: error.cause ?? error, code: error.code }
  if (error.status === 500) request.log.error(facts, 'failed')
  else request.log.warn(facts, 'unavailable')
}
