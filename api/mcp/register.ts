import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseAddress } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import type { Deps } from '../deps.ts'
import { identify } from '../http/admit.ts'
import { loggedError } from '../http/error-handler.ts'
import { declarePrefix } from '../http/raw-target.ts'
import { PEOPLE_HOST, type People } from '../people/people.ts'
import { bearerOf } from '../people/request-credentials.ts'
import { ANONYMOUS, type Viewer } from '../people/viewer.ts'
import type { ToolHandlers } from './call-tool.ts'
import { idsOf, McpRefusal, parseMessage, RPC } from './messages.ts'
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

/**
 * Who sends a message: told by a token alone, since any origin may send messages, and browsers add cookies. The server without an address reads
 * what is public, for everybody alike.
 *
 * @throws ServiceError `auth.required`, `auth.unavailable`
 */
async function identifyClient(
  people: People | null,
  { headers: { authorization } }: Pick<FastifyRequest, 'headers'>,
  rawAddress: string,
): Promise<Viewer> {
  if (rawAddress === '' || authorization === undefined) return ANONYMOUS
  return await identify(people, { authorization }, 'bearer')
}

function hasSignIn({ people }: Pick<Deps, 'people'>): boolean {
  return people?.signIn != null
}

interface Challenged {
  /** Percent-encoded, as the client wrote it. */
  rawAddress: string
  hosts: readonly string[]
  /** Public origin. */
  baseUrl: string
  hasSignIn: boolean
}

/**
 * The error of a request, with the challenge that makes a client start a sign-in. Where sign-in is set up, an anonymous client gets the same error
 * and challenge for a private repository and for one that does not exist.
 */
function challenged(thrown: unknown, request: FastifyRequest, reply: FastifyReply, of: Challenged): unknown {
  if (!(thrown instanceof ServiceError)) return thrown
  const isRefusedToken = thrown.code === 'auth.required'
  const isChallenge = of.hasSignIn && of.rawAddress !== '' && isOfPeopleHost(of)
  const isHidden = thrown.code === 'mount.repo_not_found' && bearerOf(request.headers) === null
  if (!isRefusedToken && !(isHidden && isChallenge)) return thrown
  const error = isRefusedToken ? ['error="invalid_token"'] : []
  const metadata = isChallenge ? [`resource_metadata="${metadataUrl(of)}"`, 'scope="read"'] : []
  reply.header('www-authenticate', `Bearer ${[...error, ...metadata].join(', ')}`)
  return isRefusedToken ? thrown : new ServiceError('auth.required')
}

function isOfPeopleHost({ rawAddress, hosts }: Challenged): boolean {
  try {
    return parseAddress(rawAddress, hosts).host === PEOPLE_HOST
  } catch {
    return false
  }
}

/** Of the URL that the client used: it compares the resource that the metadata names with it. */
function metadataUrl({ baseUrl, rawAddress }: Challenged): string {
  const safe = rawAddress.replace(/[^\w.~!$&'()*+,;=:@%/-]/g, character => encodeURIComponent(character))
  return `${baseUrl}/.well-known/oauth-protected-resource/mcp/${safe.replace(/^\//, '')}`
}

const BODY_BYTES = 64 * 1024

/**
 * On a machine of its own the service is reached by names of that machine alone, so that no page of another site can have a browser ask it
 * under a name which leads here (DNS rebinding).
 *
 * @throws McpRefusal
 */
function refuseForeign({ headers }: FastifyRequest): void {
  if (!isLoopback(hostOf(`http://${headers.host}`)))
    throw new McpRefusal(403, RPC.refused, `this service answers only under the names of its own machine; ${ELSEWHERE}`)
  if (headers.origin !== undefined && !isLoopback(hostOf(headers.origin)))
    throw new McpRefusal(403, RPC.refused, `this service answers only pages of its own machine; ${ELSEWHERE}`)
}

const ELSEWHERE = 'for clients elsewhere, start it with MOUNTGLASS_BASE_URL, the URL by which they reach it'

/** Whether a host name of a URL leads to the own machine everywhere. */
function isLoopback(hostname: string | null): boolean {
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
function answerMcpError(thrown: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
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
