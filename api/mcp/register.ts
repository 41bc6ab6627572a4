import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import fastifyCors from '@fastify/cors'
import { type NodeIncomingMessageLike, toWebRequest } from '@modelcontextprotocol/node'
import { createMcpHandler, localhostAllowedHostnames } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Address, parseAddress } from '#core/address.ts'
import { type ErrorCode, ServiceError } from '#core/errors.ts'
import { readTypedAddress } from '#core/typed-address.ts'
import type { Deps } from '../deps.ts'
import { loggedError } from '../http/error-handler.ts'
import { declarePrefix } from '../http/raw-target.ts'
import type { ToolHandlers } from './call-tool.ts'
import { introduce } from './instructions.ts'
import { answerMcpError, BODY_BYTES, parseMessage, refuseForeign } from './refusals.ts'
import { createServer, type ServerOptions } from './server.ts'

export interface McpOptions {
  /** Public origin. */
  baseUrl: string
  /** Bound of the text of a result. */
  maxBytes: number
}

const PREFIX = '/mcp'

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

/** What the SDK's handler does not pass on to the server that it has made for a request. */
interface Served extends ServerOptions {
  request: FastifyRequest
}

/**
 * `/mcp/<address>`: an MCP server for one address, and `/mcp`: one whose tools take the address. Both answer from the use cases of the REST
 * interface and keep nothing between two requests.
 */
export function registerMcp(app: FastifyInstance, deps: Deps, handlers: ToolHandlers, options: McpOptions): void {
  app.register(async instance => registerRoutes(instance, deps, handlers, options))
}

async function registerRoutes(
  app: FastifyInstance,
  deps: Deps,
  handlers: ToolHandlers,
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
      const introduction = await introduce(handlers, address, viewer, message).catch(error => {
        // What else is wrong with the address, the tools say to the model.
        if (error instanceof ServiceError && !OF_ADDRESS.has(error.code)) return { address: null, instructions: '' }
        throw error
      })
      const options = {
        viewer,
        address: address && (introduction.address === null ? address : parseAddress(introduction.address.slice(1), hosts)),
        instructions: introduction.instructions,
      }
      const left = new AbortController()
      request.raw.once('close', () => left.abort())
      const asked = await toWebRequest(request.raw as NodeIncomingMessageLike, message, { signal: left.signal })
      const answer = await served.run({ request, ...options }, () => handler.fetch(asked, { parsedBody: message }))
      return await send(reply, answer)
    },
  })
}

/** Passes the answer of the SDK on, with the headers of this service. */
async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  reply.code(answer.status)
  for (const [name, value] of answer.headers) if (name !== 'content-length') reply.header(name, value)
  if (answer.body === null) return reply.send(null)
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
  return reply.send(isStream ? Readable.fromWeb(answer.body as ReadableStream) : Buffer.from(await answer.arrayBuffer()))
}

/** The repository that an argument names. @throws ServiceError `address.*` */
function readAddress(text: string, hosts: readonly string[], baseUrl: string): Address {
  const typed = readTypedAddress(text, { hosts, baseUrl })
  if (typed.kind === 'address') return typed.address
  const message = typed.kind === 'owner' ? 'names an account; name one of its repositories' : typed.message
  throw new ServiceError((typed.kind === 'unreadable' ? (typed.code as ErrorCode | null) : null) ?? 'address.incomplete', {
    message,
  })
}
