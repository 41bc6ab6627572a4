import { randomUUID } from 'node:crypto'
import fastifyCors from '@fastify/cors'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import { validatorCompiler } from 'fastify-zod-openapi'
import { z } from 'zod'
import { ServiceError } from '#core/errors.ts'
import { TOOL_BYTES } from '#core/limits.ts'
import { type Metrics, NO_METRICS } from '#core/ports/metrics.ts'
import { featuredReader } from './cards/featured.ts'
import type { Deps } from './deps.ts'
import { type BodyLimits, createBodyReader } from './http/body-reader.ts'
import { registerEndpoints, serializerCompiler, subjectParsers } from './http/endpoint.ts'
import { EntityTags } from './http/entity-tag.ts'
import { answerError, answerReader, preparePages } from './http/error-handler.ts'
import { createFaultLog } from './http/fault-log.ts'
import { CLIENT_LIMITS, type ClientLimits, createHttpServer } from './http/http-server.ts'
import { createDescription, registerOpenApi } from './http/openapi.ts'
import { createRawPrefixes, declarePrefix, type PrefixOptions, parseQueryString } from './http/raw-target.ts'
import {
  API,
  collectMethods,
  createRefusedAnswers,
  isApiPath,
  type RouteMethods,
  refuseBadHost,
  refuseEncodedBodies,
  refuseUnknownRoute,
} from './http/refused-requests.ts'
import { countRequests, loggedTarget } from './http/request-records.ts'
import { CORS, commonHeaders, setApiHeaders, setCommonHeaders, setCorsHeaders } from './http/response-headers.ts'
import { registerMcp } from './mcp/register.ts'
import { ANONYMOUS } from './people/viewer.ts'
import { registerAccountForms } from './routes/account-forms.ts'
import { type AddressHandlers, addressHandlers } from './routes/address-endpoints.ts'
import { registerDiscovery } from './routes/discovery.ts'
import { type ReadMetrics, registerHealth, registerMetrics } from './routes/health.ts'
import { HOOK_BODIES, registerHooks } from './routes/hooks.ts'
import { registerLlms } from './routes/llms.ts'
import { oauthHandlers, registerOAuth } from './routes/oauth.ts'
import { operatorHandlers, registerMedia } from './routes/operator-pages.ts'
import { ownerHandler } from './routes/owners.ts'
import { peopleHandlers } from './routes/people.ts'
import { type DocsPage, type PictureOptions, registerPictures } from './routes/pictures.ts'
import { registerRawFiles } from './routes/raw-file.ts'
import { registerSignIn } from './routes/sign-in.ts'
import { registerWithoutPages } from './routes/without-pages.ts'

export interface AppOptions {
  /** Public origin; never taken from a request. */
  baseUrl: string
  /** Options of a log. Default: no log. */
  logger?: FastifyServerOptions['logger']
  /** A log that is open already, in place of `logger`. */
  log?: FastifyBaseLogger
  /** Counts and times requests. Default: no metrics. */
  metrics?: Metrics
  /** The answer of `/metrics`. Default: this service has no such route. */
  readMetrics?: ReadMetrics
  /** What clients may hold. Default: `CLIENT_LIMITS`, and bodies of webhooks as in `HOOK_BODIES`. */
  clients?: Partial<ClientLimits>
  hookBodies?: BodyLimits
  /** The pages of the documentation, which have cards where there are pages. Default: none. */
  docs?: readonly DocsPage[]
  /** Of the processes that decode and draw pictures; `null`: this service has badges alone, and its pages name no picture. */
  pictures?: PictureOptions | null
  /** Bytes of the text that a tool returns to a model. Default: that of `TOOL_BYTES`. */
  toolBytes?: number
}

/** A plugin that answers every route the API does not have: the pages, their not-found page included. */
export type SitePlugin = FastifyPluginAsync

const BODY_BYTES = 64 * 1024

/** The service as a Fastify instance, complete but not listening. */
export async function buildApp(deps: Deps, options: AppOptions, site?: SitePlugin): Promise<FastifyInstance> {
  const rawPrefixes = createRawPrefixes()
  const common = commonHeaders(options.baseUrl)
  const app: FastifyInstance = fastify({
    ...(options.log ? { loggerInstance: options.log } : { logger: options.logger ?? false }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    rewriteUrl: rawPrefixes.rewriteUrl,
    routerOptions: { querystringParser: parseQueryString },
    bodyLimit: BODY_BYTES,
    // A service that starts on a busy machine takes as long as it takes.
    pluginTimeout: 0,
    serverFactory: listener =>
      createHttpServer(
        listener,
        { ...CLIENT_LIMITS, ...options.clients },
        createRefusedAnswers(target => methods.ofTarget(target), common),
      ),
    // `createHttpServer` answers these errors.
    clientErrorHandler: () => {},
    // A request that arrives while the service closes is answered, and its connection closed afterwards.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      // These errors arise before routing, so no hook has set the headers.
      setCommonHeaders(request, reply, common)
      if (isApiPath(request.raw.url)) {
        setApiHeaders(reply)
        setCorsHeaders(reply)
        return answerError(error, request, reply)
      }
      // A person who mistyped an address, or followed a link that was cut, gets a page.
      answerReader(error, request, reply).catch(thrown => answerError(thrown, request, reply))
    },
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(answerError)
  decorate(app, deps, options.metrics ?? NO_METRICS)
  app.decorate('rawPrefixes', rawPrefixes)
  const methods = collectMethods(app)
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply, common)
    request.viewer = ANONYMOUS
    // The interface refuses its own requests, with its headers.
    if (!isApiPath(request.url)) refuseRequest(methods, request, reply)
    done()
  })
  refuseEncodedBodies(app)
  logAnswers(app)
  app.addHook('onClose', async () => deps.hidden.close())

  if (options.metrics) countRequests(app, options.metrics)

  await registerOpenApi(app, options.baseUrl)
  registerHealth(app, deps)
  if (options.readMetrics) registerMetrics(app, options.readMetrics)
  registerRawFiles(app, deps)
  registerMedia(app, deps)
  registerPictures(app, deps, site ? (options.docs ?? []) : null, options.pictures)
  registerHooks(app, deps, createBodyReader(options.hookBodies ?? HOOK_BODIES))
  registerSignIn(app, deps.people, options.baseUrl)
  if (site) registerAccountForms(app, { people: deps.people, oauth: deps.oauth, origin: options.baseUrl })
  if (deps.oauth) registerOAuth(app, deps.oauth)
  const handlers = addressHandlers(deps)
  registerDiscovery(app, deps)
  registerLlms(app, deps, handlers, options.baseUrl)
  registerMcp(app, deps, handlers, { baseUrl: options.baseUrl, maxBytes: options.toolBytes ?? TOOL_BYTES.default })
  await app.register(async api => registerApi(api, deps, { handlers, methods, baseUrl: options.baseUrl }), {
    prefix: API,
  })
  if (site) await app.register(site)
  else registerWithoutPages(app, deps)
  return app
}

/** What routes and hooks find on the service and on each request. */
function decorate(app: FastifyInstance, deps: Deps, metrics: Metrics): void {
  const segments = deps.hosts.map(host => host.segment)
  app.decorate('loggedTargetOf', ({ originalUrl, is404, rawAddress = null }: Parameters<FastifyInstance['loggedTargetOf']>[0]) =>
    loggedTarget(originalUrl, { isRoute: !is404, rawAddress, hosts: segments, names: deps.names }),
  )
  app.decorate('faults', createFaultLog(metrics))
  preparePages(app)
  app.decorate('declarePrefix', function (this: FastifyInstance, prefix: string, options?: PrefixOptions) {
    return declarePrefix(this, prefix, options)
  })
  app.decorateRequest('rawAddress', {
    getter() {
      return this.raw.rawAddress ?? null
    },
  })
  app.decorateRequest('rawRest', {
    getter() {
      return this.raw.rawRest ?? ''
    },
  })
  app.decorateRequest('viewer')
}

/** Logs every answer, if the log level includes such lines. */
function logAnswers(app: FastifyInstance): void {
  if (!ANSWER_LEVELS.has(app.log.level)) return
  app.addHook('onResponse', (request, { statusCode, elapsedTime }, done) => {
    const { method, log, server } = request
    log.info({ method, ...server.loggedTargetOf(request), status: statusCode, ms: Math.round(elapsedTime) }, 'answered')
    done()
  })
}

/** Levels of a log that has a line for each answer. */
const ANSWER_LEVELS: ReadonlySet<string> = new Set(['info', 'debug', 'trace'])

/** @throws ServiceError `request.*`, before the body is read */
function refuseRequest(methods: RouteMethods, request: FastifyRequest, reply: FastifyReply): void {
  refuseBadHost(request)
  refuseUnknownRoute(methods, request, reply)
}

async function registerApi(
  api: FastifyInstance,
  deps: Deps,
  { handlers, methods, baseUrl }: { handlers: AddressHandlers; methods: RouteMethods; baseUrl: string },
): Promise<void> {
  // Bodies are JSON alone.
  api.removeContentTypeParser('text/plain')
  api.addHook('onRequest', (request, reply, done) => {
    setApiHeaders(reply)
    setCorsHeaders(reply)
    refuseRequest(methods, request, reply)
    done()
  })
  // In a context of its own: only preflight requests need its hook, since the headers of all answers are constants.
  await api.register(async preflight => {
    await preflight.register(fastifyCors, CORS)
  })
  api.setNotFoundHandler((request, reply) => answerError(new ServiceError('request.not_found'), request, reply))
  const parsers = subjectParsers(deps)
  const owners = deps.hosts.some(host => host.accounts) ? ownerHandler(deps) : null
  const featured = featuredReader(deps, api.log)
  registerEndpoints(api, parsers, { people: deps.people, origin: baseUrl }, new EntityTags(), {
    ...handlers,
    featured,
    owners,
    ...operatorHandlers(deps),
    ...peopleHandlers(deps),
    ...oauthHandlers(deps),
  })
  const describe = createDescription(api)
  api.get('/openapi.json', { schema: { hide: true, querystring: z.strictObject({}) } }, async (_request, reply) =>
    reply.type('application/json').send(describe()),
  )
}
