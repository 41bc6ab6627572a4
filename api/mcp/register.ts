import { AsyncLocalStorage } from 'node:async_hooks'
import fastifyCors from '@fastify/cors'
import { type NodeIncomingMessageLike, toWebRequest } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  INVALID_REQUEST,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  PARSE_ERROR,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Address, parseAddress } from '#core/address.ts'
import { type ErrorCode, ServiceError } from '#core/errors.ts'
import { readTypedAddress } from '#core/typed-address.ts'
import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/endpoint.ts'
import { loggedError } from '../http/error-handler.ts'
import { declarePrefix } from '../http/raw-target.ts'
import type { ToolHandlers } from './call-tool.ts'
import { describeServer } from './instructions.ts'
import { createServer, type ServerOptions } from './server.ts'

export interface McpOptions {
  /** Public origin. */
  baseUrl: string
  /** Bound of the text of a result. */
  maxBytes: number
}

const PREFIX = '/mcp'
const BODY_BYTES = 64 * 1024

const CORS = {
  origin: '*',
  methods: ['POST'],
  allowedHeaders: ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'],
  exposedHeaders: ['x-request-id', 'retry-after', 'www-authenticate'],
  strictPreflight: false,
  maxAge: 86_400,
}

/** Codes that say something of the address as a whole, before any tool is called. */
const OF_ADDRESS: ReadonlySet<ErrorCode> = new Set([
  'mount.repo_not_found',
  'mount.not_allowed',
  'mount.rate_limited',
  'mount.unavailable',
])

/** JSON-RPC leaves these numbers to servers. */
const REFUSED = -32_000

/** What the SDK's handler does not pass on to the server that it has made for a request. */
interface Served extends ServerOptions {
  request: FastifyRequest
}

/**
 * `/mcp/<address>`: an MCP server for one address, and `/mcp`: one whose tools take the address. Both answer from the use cases of the REST
 * interface and keep nothing between two requests.
 */
export function registerMcp(app: FastifyInstance, deps: Deps, handlers: ToolHandlers & Pick<Handlers, 'mounts'>, options: McpOptions): void {
  app.register(async instance => registerRoutes(instance, deps, handlers, options))
}

async function registerRoutes(
  app: FastifyInstance,
  deps: Deps,
  handlers: ToolHandlers & Pick<Handlers, 'mounts'>,
  { baseUrl, maxBytes }: McpOptions,
): Promise<void> {
  const hosts = deps.hosts.map(host => host.segment)
  const isLoopback = localhostAllowedHostnames().includes(new URL(baseUrl).hostname)
  const served = new AsyncLocalStorage<Served>()
  const handler = createMcpHandler(() => {
    const { request, ...options } = served.getStore() as Served
    const toServiceError = (thrown: unknown) => loggedError(thrown, request)
    return createServer({ handlers, maxBytes, toServiceError, readAddress: text => readAddress(text, hosts, baseUrl) }, options)
  })
  app.addHook('onClose', async () => handler.close())

  await app.register(fastifyCors, CORS)
  app.setErrorHandler(answerMcpError)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_BYTES }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })

  app.route({
    method: ['POST', 'GET', 'DELETE'],
    url: declarePrefix(app, PREFIX, { isBareAllowed: true }),
    schema: { hide: true },
    onRequest: async request => {
      if (isLoopback) refuseForeign(request)
    },
    async handler(request, reply) {
      const { viewer, rawAddress } = request
      const address = rawAddress ? parseAddress(rawAddress, hosts) : null
      if (request.method !== 'POST') throw new ServiceError('request.method_not_allowed')
      const message = parseMessage(request.body)
      const instructions = await describeServer(handlers, address, viewer, message).catch(error => {
        if (error instanceof ServiceError && !OF_ADDRESS.has(error.code)) return ''
        throw error
      })
      const left = new AbortController()
      request.raw.once('close', () => left.abort())
      const asked = await toWebRequest(request.raw as NodeIncomingMessageLike, message, { signal: left.signal })
      const answer = await served.run({ request, address, viewer, instructions }, () => handler.fetch(asked, { parsedBody: message }))
      return await send(reply, answer)
    },
  })
}

/** Passes the answer of the SDK on, with the headers of this service. */
async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  reply.code(answer.status)
  for (const [name, value] of answer.headers) if (name !== 'content-length') reply.header(name, value)
  return reply.send(answer.body === null ? null : Buffer.from(await answer.arrayBuffer()))
}

/** One message. A list of them, as old revisions know it, would do the work of many requests. @throws McpRefusal */
function parseMessage(body: unknown): Record<string, unknown> {
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

/** The repository that an argument names. @throws ServiceError `address.*` */
function readAddress(text: string, hosts: readonly string[], baseUrl: string): Address {
  const typed = readTypedAddress(text, { hosts, baseUrl })
  if (typed.kind === 'address') return typed.address
  const message = typed.kind === 'owner' ? 'names an account; name one of its repositories' : typed.message
  throw new ServiceError((typed.kind === 'unreadable' ? (typed.code as ErrorCode | null) : null) ?? 'address.incomplete', { message })
}

/**
 * On a machine of its own the service is reached by names of that machine alone, so that no page of another site can have a browser ask it
 * under a name which leads here (DNS rebinding).
 *
 * @throws McpRefusal
 */
function refuseForeign({ headers }: FastifyRequest): void {
  if (!validateHostHeader(headers.host, localhostAllowedHostnames()).ok)
    throw new McpRefusal(403, REFUSED, 'this service answers only under the names of its own machine')
  if (headers.origin !== undefined && !validateOriginHeader(headers.origin, localhostAllowedOrigins()).ok)
    throw new McpRefusal(403, REFUSED, 'this service answers only pages of its own machine')
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

/** Errors outside of a tool: the status says what HTTP clients need, the body is a JSON-RPC error. */
function answerMcpError(thrown: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  if (thrown instanceof McpRefusal) return sendError(reply, thrown.statusCode, { code: thrown.rpcCode, message: thrown.message })
  if ((thrown as FastifyError).code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return sendError(reply, 413, { code: REFUSED, message: `the body is larger than ${BODY_BYTES} bytes` })
  const { status, code, message, details } = loggedError(thrown, request)
  if (code === 'request.method_not_allowed') reply.header('allow', 'POST, OPTIONS')
  if (details.retryAfter !== undefined) reply.header('retry-after', Math.ceil(details.retryAfter))
  sendError(reply, status, { code: REFUSED, message, data: { code, ...details } })
}

function sendError(reply: FastifyReply, status: number, error: { code: number; message: string; data?: object }): void {
  reply.code(status).type('application/json').send(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
}
