import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import type { RequestValidationError } from 'fastify-zod-openapi'
import type { z } from 'zod'
import type { ErrorAnswer } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { keepFinding } from '#core/finding-messages.ts'
import { QUERY_STRING_BYTES } from '#core/limits.ts'
import { framesOf } from '#core/scrubbed.ts'
import { truncateCharacters } from '#core/text.ts'
import { bearerOf } from '../people/request-credentials.ts'
import { DamagedSnapshot } from '../snapshot/unavailable.ts'
import { MALFORMED } from './raw-target.ts'

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

/** Problems that one message names. */
const NAMED = 3
const NAME_CHARACTERS = 40

/** Says which parameters of a query are wrong, and what each has to be. The message of the schema says the latter. */
function explainInvalid(problems: readonly FastifySchemaValidationError[], query: unknown): string {
  const given = (query ?? {}) as Record<string, unknown>
  const explained = problems.flatMap(problem => {
    return isOfSchema(problem) ? explainIssue(problem.params.issue, given) : [problem.message ?? 'the request is malformed']
  })
  return inOneMessage(explained)
}

/** Told by its shape: the module of the class loads a validator and an OpenAPI generator, also for a server over stdio, which has neither. */
function isOfSchema(problem: FastifySchemaValidationError): problem is RequestValidationError {
  return 'issue' in problem.params
}

/** The same for the arguments of an MCP tool. */
export function explainArguments(issues: readonly z.core.$ZodIssue[], given: Readonly<Record<string, unknown>>): string {
  return inOneMessage(issues.flatMap(issue => explainIssue(issue, given)))
}

function explainIssue(issue: z.core.$ZodIssue, given: Readonly<Record<string, unknown>>): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(explainUnknown)
  const name = String(issue.path[0] ?? '')
  const message = issue.code === 'invalid_type' && issue.expected === 'string' ? 'must be a text' : issue.message
  return [`parameter ${name} ${fault(given[name]) ?? message}`]
}

function inOneMessage(explained: readonly string[]): string {
  return [...new Set(explained)].slice(0, NAMED).join('; ')
}

/** The message where the query as a whole is refused. */
export const QUERY_REFUSED = `the query has a malformed percent-escape or exceeds ${QUERY_STRING_BYTES.toLocaleString('en')} bytes; encode it as UTF-8, or shorten it`

function explainUnknown(name: string): string {
  if (name === MALFORMED) return QUERY_REFUSED
  return `parameter ${truncateCharacters(name, NAME_CHARACTERS)} is not known here; remove it`
}

function fault(value: unknown): string | null {
  if (value === undefined) return 'is missing'
  return Array.isArray(value) ? 'is repeated; give it once' : null
}

/** A failure of a navigation, which a person sees as a page. */
interface Failure {
  status: number
  /** `sign_in.failed`, `sign_in.unavailable`, `forget.pending`, or a code of `core/errors.ts`. */
  code: string
  message: string
  /** Of an error of the interface that has several. */
  reason?: 'empty' | 'damaged'
  retryAfterSeconds: number | null
}

/** What the pages do for routes of the service. */
interface Pages {
  /** Sends the page of a failure; `null` where there are no pages. */
  sendFailure: ((request: FastifyRequest, reply: FastifyReply, failure: Failure) => Promise<void>) | null
}

declare module 'fastify' {
  interface FastifyInstance {
    pages: Pages
  }
}

export function preparePages(app: FastifyInstance): void {
  app.decorate('pages', { sendFailure: null } satisfies Pages)
}

/** Answers a navigation that failed with a page, which says the message alone where this deployment has no pages. Messages are constants. */
export async function answerFailure(request: FastifyRequest, reply: FastifyReply, failure: Failure): Promise<void> {
  const { sendFailure } = request.server.pages
  if (sendFailure !== null) return await sendFailure(request, reply, failure)
  const { status, code, message, retryAfterSeconds } = failure
  if (retryAfterSeconds !== null) reply.header('retry-after', Math.ceil(retryAfterSeconds))
  const page = `<!doctype html><html lang="en"><title>${status} ${code}</title><p>${message}</p><p><a href="/">Start again</a></p></html>`
  await reply.code(status).type('text/html; charset=utf-8').send(page)
}

/** The handler of errors of routes to which a browser navigates. Programs, which do not ask for HTML, receive the error of the interface. */
export async function answerErrorOnPage(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (error instanceof ServiceError && isNavigation(request)) await answerFailure(request, reply, failureOf(error))
  else answerError(error, request, reply)
}

/** The handler of errors of routes to which pages link, and of addresses without a route: a page where there are pages and a browser navigates. */
export async function answerReader(thrown: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.server.pages.sendFailure === null || !isNavigation(request)) answerError(thrown, request, reply)
  else await answerFailure(request, reply, failureOf(loggedError(thrown, request)))
}

function isNavigation({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}

function failureOf({ code, status, message, details }: ServiceError): Failure {
  const { reason, retryAfter } = details
  return { status, code, message, retryAfterSeconds: retryAfter ?? null, ...(reason && { reason }) }
}
