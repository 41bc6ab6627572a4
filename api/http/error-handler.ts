import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorAnswer } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { keepFinding } from '#core/finding-messages.ts'
import { framesOf } from '#core/logged-cause.ts'
import { bearerOf } from '../people/request-credentials.ts'
import { DamagedSnapshot } from '../snapshot/unavailable.ts'
import { explainInvalid } from './invalid-request.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** What was answered, for those who ask in the same process: its findings say what they were made of (`core/finding-messages.ts`). */
    answer?: unknown
  }
}

/** Answers a thrown error in the error shape of the interface. */
export function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = loggedError(thrown, request)
  if (error.code === 'auth.required' && bearerOf(request.headers) !== null) reply.header('www-authenticate', INVALID_TOKEN)
  if (error.details.retryAfter !== undefined) reply.header('retry-after', Math.ceil(error.details.retryAfter))
  // A cache may keep a 404 that says nothing of it, and what is hidden now may be shown to the next who asks.
  reply.header('cache-control', 'no-store')
  request.raw.answer = errorBody(error)
  reply.code(error.status).send(request.raw.answer)
}

const INVALID_TOKEN = 'Bearer error="invalid_token"'

/** Whether a body is no JSON, has another content type, or is not of the schema. One that is too long is refused as such. */
export function isInvalidBody(thrown: unknown): boolean {
  const { code = '', validationContext, statusCode } = thrown as Partial<FastifyError>
  if (validationContext !== undefined) return validationContext === 'body'
  return code.startsWith('FST_ERR_CTP_') && code !== TOO_LARGE && statusCode !== undefined && statusCode < 500
}

const TOO_LARGE = 'FST_ERR_CTP_BODY_TOO_LARGE'

/** The error of the interface for whatever was thrown. One that the operator has to know is logged. */
export function loggedError(thrown: unknown, request: FastifyRequest): ServiceError {
  const error = toServiceError(thrown, request.query)
  if (error.status >= 500) logFailure(request, error)
  return error
}

export function errorBody(error: ServiceError): ErrorAnswer {
  return { error: keepFinding({ code: error.code, message: error.message, ...error.details }, error) }
}

/** The error of the interface for a failure. An unknown one becomes `service.internal`; its details go to the log only. */
function toServiceError(thrown: unknown, query: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown
  const { code = '', statusCode = 500, validation } = thrown as Partial<FastifyError>
  if (validation) return new ServiceError('request.invalid', { message: explainInvalid(validation, query), cause: thrown })
  if (code === TOO_LARGE) return new ServiceError('request.too_large', { cause: thrown })
  if (code.startsWith('FST_') && statusCode < 500) return new ServiceError('request.invalid', { cause: thrown })
  return new ServiceError('service.internal', { cause: thrown })
}

function logFailure(request: FastifyRequest, error: ServiceError): void {
  // The damage was logged when it was first found.
  if (error.cause instanceof DamagedSnapshot) return
  const cause = error.cause ?? error
  const { faults, loggedTargetOf } = request.server
  // What the log does not name, no message in it may name.
  const isHidden = loggedTargetOf(request).repo !== undefined
  if (error.status === 500) faults.note(request.log, cause, { code: error.code, isHidden })
  else request.log.warn({ err: isHidden ? framesOf(cause) : cause, code: error.code }, 'unavailable')
}
