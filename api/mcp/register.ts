import type { FastifyInstance } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'
import { declarePrefix } from '../http/raw-target.ts'
import type { ToolHandlers } from './call-tool.ts'
import { challenged, hasSignIn, identifyClient } from './challenge.ts'
import { parseMessage } from './messages.ts'
import { answerMcpError, BODY_BYTES, isLoopback, refuseForeign } from './refusals.ts'
import type { McpService } from './serve.ts'

export interface McpOptions {
  /** Public origin. */
  baseUrl: string
  /** Bound of the text of a result. */
  maxBytes: number
}

const PREFIX = '/mcp'

/** What pages of other origins may send and read. Requests carry no credentials of a browser. */
const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id, retry-after, www-authenticate',
} as const
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version, mcp-method, mcp-name',
  'access-control-max-age': '86400',
} as const

/**
 * `/mcp/<address>`: an MCP server for one address, and `/mcp`: one whose tools take the address. Both answer from the use cases of the REST
 * interface and keep nothing between two requests.
 */
export function registerMcp(app: FastifyInstance, deps: Deps, handlers: ToolHandlers, options: McpOptions): void {
  app.register(async instance => registerRoutes(instance, deps, handlers, options))
}

async function registerRoutes(app: FastifyInstance, deps: Deps, handlers: ToolHandlers, options: McpOptions): Promise<void> {
  const hosts = deps.hosts.map(host => host.segment)
  const isOwnMachine = isLoopback(new URL(options.baseUrl).hostname)
  let service: Promise<McpService> | null = null
  // The SDK takes 40 MB and tenths of a second to load, which a service without agents does not need.
  const load = () => {
    service ??= import('./serve.ts').then(({ createMcpService }) => createMcpService({ deps, handlers, hosts, ...options }))
    return service
  }
  app.addHook('onClose', async () => (await service)?.close())

  app.setErrorHandler(answerMcpError)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_BYTES }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'cache-control': 'no-store', ...CORS_HEADERS })
  })

  app.route({
    method: ['POST', 'GET', 'DELETE', 'OPTIONS'],
    url: declarePrefix(app, PREFIX, { isBareAllowed: true }),
    schema: { hide: true },
    onRequest: async request => {
      if (isOwnMachine) refuseForeign(request)
    },
    async handler(request, reply) {
      if (request.method === 'OPTIONS') return await reply.headers(PREFLIGHT_HEADERS).code(204).send()
      if (request.method !== 'POST') throw new ServiceError('request.method_not_allowed')
      const message = parseMessage(String(request.body))
      const rawAddress = request.rawAddress ?? ''
      try {
        request.viewer = await identifyClient(deps.people, request, rawAddress)
        return await (await load()).answer(request, reply, rawAddress, message)
      } catch (error) {
        throw challenged(error, request, reply, { rawAddress, hosts, baseUrl: options.baseUrl, hasSignIn: hasSignIn(deps) })
      }
    },
  })
}
