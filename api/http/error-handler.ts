import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { RequestValidationError } from 'fastify-zod-openapi'
import type { ErrorAnswer } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { DamagedSnapshot } from '../snapshot/unavailable.ts'

/** Answers a thrown error in the error shape of the interface. */
export function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toServiceError(thrown)
  if (error.status >= 500) logFailure(request, error)
  if (error.details.retryAfter !== undefined) reply.header('retry-after', Math.ceil(error.details.retryAfter))
  reply.code(error.status).send(errorBody(error))
}

export function errorBody(error: ServiceError): ErrorAnswer {
  return { error: { code: error.code, message: error.message, ...error.details } }
}

/** The error of the interface for a failure. An unknown one becomes `service.internal`; its details go to the log only. */
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
  // The damage was logged when it was first found.
  if (error.cause instanceof DamagedSnapshot) return
  const cause = error.cause ?? error
  if (error.status === 500) request.server.faults.note(request.log, cause, error.code)
  else request.log.warn({ err: cause, code: error.code }, 'unavailable')
}
