import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { loggedError } from '../http/error-handler.ts'
import { idsOf, McpRefusal, RPC } from './messages.ts'

export const BODY_BYTES = 64 * 1024

/**
 * On a machine of its own the service is reached by names of that machine alone, so that no page of another site can have a browser ask it
 * under a name which leads here (DNS rebinding).
 *
 * @throws McpRefusal
 */
export function refuseForeign({ headers }: FastifyRequest): void {
  if (!isLoopback(hostOf(`http://${headers.host}`)))
    throw new McpRefusal(403, RPC.refused, `this service answers only under the names of its own machine; ${ELSEWHERE}`)
  if (headers.origin !== undefined && !isLoopback(hostOf(headers.origin)))
    throw new McpRefusal(403, RPC.refused, `this service answers only pages of its own machine; ${ELSEWHERE}`)
}

const ELSEWHERE = 'for clients elsewhere, start it with MOUNTGLASS_BASE_URL, the URL by which they reach it'

/** Whether a host name of a URL leads to the own machine everywhere. */
export function isLoopback(hostname: string | null): boolean {
  return hostname !== null && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** `null` when it is no URL: `Origin: null`, for example. */
function hostOf(url: string): string | null {
  return URL.parse(url)?.hostname ?? null
}

const TOO_LARGE = new McpRefusal(413, RPC.refused, `the body is larger than ${BODY_BYTES.toLocaleString('en')} bytes`)

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
  sendError(request, reply, status, { code: RPC.refused, message, data: { code, ...details } })
}

function sendError(
  { body }: FastifyRequest,
  reply: FastifyReply,
  status: number,
  error: { code: number; message: string; data?: object },
): void {
  const [id = null] = idsOf(String(body))
  reply
    .code(status)
    .type('application/json')
    .send(JSON.stringify({ jsonrpc: '2.0', id, error }))
}
