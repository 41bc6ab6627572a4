import { randomUUID } from 'node:crypto'
import fastifyCors from '@fastify/cors'
import fastify, { type FastifyInstance, type FastifyPluginAsync, type FastifyServerOptions, LogController } from 'fastify'
import { validatorCompiler } from 'fastify-zod-openapi'
import { parseAddress, parseOwner } from '#core/address.ts'
import { ServiceError } from '#core/errors.ts'
import { type Metrics, NO_METRICS } from '#core/ports/metrics.ts'
import { featuredReader } from './cards/featured.ts'
import type { Deps } from './deps.ts'
import { registerEndpoints, type SubjectParsers } from './http/endpoint.ts'
import { answerError, errorBody } from './http/error-handler.ts'
import { createFaultLog } from './http/fault-log.ts'
import { refuseUnknownRoute } from './http/not-found.ts'
import { createDescription, registerOpenApi } from './http/openapi.ts'
import { createRawPrefixes, declarePrefix, type PrefixOptions, parseQueryString } from './http/raw-target.ts'
import { countRequests } from './http/request-metrics.ts'
import { CORS, setApiHeaders, setCommonHeaders, setCorsHeaders } from './http/response-headers.ts'
import { serializerCompiler } from './http/serializer.ts'
import { ANONYMOUS } from './people/viewer.ts'
import { addressHandlers } from './routes/address-endpoints.ts'
import { registerHealth } from './routes/health.ts'
import { registerHooks } from './routes/hooks.ts'
import { registerMedia } from './routes/media.ts'
import { type ReadMetrics, registerMetrics } from './routes/metrics.ts'
import { ownerHandler } from './routes/owners.ts'
import { registerRawFiles } from './routes/raw-file.ts'

export interface AppOptions {
  /** Public origin; never taken from a request. */
  baseUrl: string
  /** Default: no log. */
  logger?: FastifyServerOptions['logger']
  /** Counts and times requests. Default: no metrics. */
  metrics?: Metrics
  /** The answer of `/metrics`. Default: this service has no such route. */
  readMetrics?: ReadMetrics
}

/** A plugin that answers every route the API does not have: the pages, their not-found page included. */
export type SitePlugin = FastifyPluginAsync

const API = '/api/v1'
const REQUEST_SECONDS = 30
const BODY_BYTES = 64 * 1024

/** The service as a Fastify instance, complete but not listening. */
export async function buildApp(deps: Deps, options: AppOptions, site?: SitePlugin): Promise<FastifyInstance> {
  const rawPrefixes = createRawPrefixes()
  const app = fastify({
    logger: options.logger ?? false,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    rewriteUrl: rawPrefixes.rewriteUrl,
    routerOptions: { querystringParser: parseQueryString },
    bodyLimit: BODY_BYTES,
    requestTimeout: REQUEST_SECONDS * 1000,
    // A request that arrives while the service closes is answered, and its connection closed afterwards.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      // These errors arise before routing, so no hook has set the headers.
      setCommonHeaders(request, reply)
      if (isApiPath(request.raw.url)) {
        setApiHeaders(reply)
        setCorsHeaders(reply)
      }
      answerError(error, request, reply)
    },
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(MALFORMED_REQUEST)
      else socket.destroy()
    },
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(answerError)
  app.decorate('faults', createFaultLog(options.metrics ?? NO_METRICS))
  app.decorate('rawPrefixes', rawPrefixes)
  app.decorate('declarePrefix', function (this: FastifyInstance, prefix: string, options?: PrefixOptions) {
    return declarePrefix(this, prefix, options)
  })
  app.decorateRequest('rawAddress', {
    getter() {
      return this.raw.rawAddress ?? null
    },
  })
  app.decorateRequest('viewer')
  app.addHook('onRequest', async (request, reply) => {
    setCommonHeaders(request, reply)
    request.viewer = ANONYMOUS
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, originalUrl, log } = request
    // Queries are not logged: they may hold what a person searches for.
    log.info(
      { method, path: originalUrl.split('?', 1)[0], status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'answered',
    )
  })
  app.addHook('onClose', async () => deps.uses.close())

  if (options.metrics) countRequests(app, options.metrics)

  await registerOpenApi(app, options.baseUrl)
  registerHealth(app, deps)
  if (options.readMetrics) registerMetrics(app, options.readMetrics)
  registerRawFiles(app, deps)
  registerMedia(app, deps)
  registerHooks(app, deps)
  await app.register(async api => registerApi(api, deps), { prefix: API })
  if (site) await app.register(site)
  else app.setNotFoundHandler((request, reply) => answerError(new ServiceError('request.not_found'), request, reply))
  return app
}

async function registerApi(api: FastifyInstance, deps: Deps): Promise<void> {
  // Registered before CORS, whose own hook answers OPTIONS.
  api.addHook('onRequest', async (_request, reply) => setApiHeaders(reply))
  await api.register(fastifyCors, CORS)
  api.addHook('onRequest', async (request, reply) => refuseUnknownRoute(api, request, reply))
  api.setNotFoundHandler((request, reply) => answerError(new ServiceError('request.not_found'), request, reply))
  const hosts = deps.hosts.map(host => host.segment)
  const listing = deps.hosts.filter(host => host.accounts).map(host => host.segment)
  const parsers: SubjectParsers = {
    address: raw => parseAddress(raw, hosts),
    owner: raw => parseOwner(raw, listing),
    none: () => null,
  }
  const owners = listing.length > 0 ? ownerHandler(deps) : null
  registerEndpoints(api, parsers, { ...addressHandlers(deps), featured: featuredReader(deps, api.log), owners })
  const describe = createDescription(api)
  api.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => reply.type('application/json').send(describe()))
}

function isApiPath(url: string | undefined): boolean {
  return url !== undefined && (url === API || url.startsWith(`${API}/`))
}

/** The answer to bytes that do not parse as HTTP. They have no route, so it is written to the socket. */
const MALFORMED_REQUEST = (() => {
  const body = JSON.stringify(
    errorBody(new ServiceError('request.invalid', { message: 'this is not a well-formed HTTP request' })),
  )
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    'cache-control: no-store',
    'connection: close',
  ]
  return `${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
})()
