import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { loggedError } from '../http/error-handler.ts'

export const BODY_BYTES = 64 * 1024
/** Numbers of JSON-RPC; it leaves the last one to servers. */
const [PARSE_ERROR, INVALID_REQUEST, REFUSED] = [-32_700, -32_600, -32_000]

/** One message. A list of them, as old revisions know it, would do the work of many requests. @throws McpRefusal */
export function parseMessage(body: unknown): Record<string, unknown> {
  let message: unknown
  try {
    message = JSON.parse(String(body))
  } catch {
    throw new McpRefusal(400, PARSE_ERROR, 'the body is not JSON')
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    throw new McpRefusal(400, INVALID_REQUEST, 'the body is not one JSON-RPC message')
  return message as Record<string, unknown>
}

/**
 * On a machine of its own the service is reached by names of that machine alone, so that no page of another site can have a browser ask it
 * under a name which leads here (DNS rebinding).
 *
 * @throws McpRefusal
 */
export function refuseForeign({ headers }: FastifyRequest): void {
  if (!isLoopback(hostOf(`http://${headers.host}`)))
    throw new McpRefusal(403, REFUSED, 'this service answers only under the names of its own machine')
  if (headers.origin !== undefined && !isLoopback(hostOf(headers.origin)))
    throw new McpRefusal(403, REFUSED, 'this service answers only pages of its own machine')
}

/** Whether a host name of a URL leads to the own machine everywhere. */
export function isLoopback(hostname: string | null): boolean {
  return hostname !== null && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** `null` when it is no URL: `Origin: null`, for example. */
function hostOf(url: string): string | null {
  return URL.parse(url)?.hostname ?? null
}

/** A request that is refused before the SDK sees it. */
class McpRefusal extends Error {
  readonly statusCode: number
  readonly rpcCode: number

  constructor(statusCode: number, rpcCode: number, message: string) {
    super(message)
    this.name = 'McpRefusal'
    this.statusCode = statusCode
    this.rpcCode = rpcCode
  }
}

const TOO_LARGE = new McpRefusal(413, REFUSED, `the body is larger than ${BODY_BYTES.toLocaleString('en')} bytes`)

function isTooLarge(thrown: Partial<FastifyError>): boolean {
  return thrown.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
}

/** Errors outside of a tool: the status says what HTTP clients need, the body is a JSON-RPC error. */
export function answerMcpError(thrown: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = thrown instanceof McpRefusal ? thrown : isTooLarge(thrown) ? TOO_LARGE : null
  if (refusal !== null) {
    sendError(request, reply, refusal.statusCode, { code: refusal.rpcCode, message: refusal.message })
    return
  }
  const { status, code, message, details } = loggedError(thrown, request)
  if (code === 'request.method_not_allowed') reply.header('allow', 'POST, OPTIONS')
  if (details.retryAfter !== undefined) reply.header('retry-after', Math.ceil(details.retryAfter))
  sendError(request, reply, status, { code: REFUSED, message, data: { code, ...details } })
}

function sendError(
  { body }: FastifyRequest,
  reply: FastifyReply,
  status: number,
  error: { code: number; message: string; data?: object },
): void {
  reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify({ jsonrpc: '2.0', id: idOf(body), error }))
}

/** The id of the message in a body, which its error repeats; `null` where none can be told. */
function idOf(body: unknown): string | number | null {
  try {
    const { id } = JSON.parse(String(body)) as { id?: unknown }
    return typeof id === 'string' || typeof id === 'number' ? id : null
  } catch {
    return null
  }
}
