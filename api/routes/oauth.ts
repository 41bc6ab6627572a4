import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'
import { FORM_TYPE, type Form, parseForm } from '#core/form.ts'
import { chooseLanguage } from '#core/page-language.ts'
import type { Deps } from '../deps.ts'
import { clientNetwork, originOf } from '../http/admit.ts'
import type { Handlers } from '../http/endpoint.ts'
import { loggedError } from '../http/error-handler.ts'
import { declarePrefix } from '../http/raw-target.ts'
import { type Authorization, authorize, formatRefusal } from '../oauth/authorize.ts'
import { RefusedMetadata } from '../oauth/clients.ts'
import { decide, describeRequest } from '../oauth/decision.ts'
import { endGrant, listGrants } from '../oauth/grants.ts'
import { type OAuthDeps, serverMetadata } from '../oauth/oauth.ts'
import { describeResource } from '../oauth/resource.ts'
import { answerToken, RefusedToken, revokeToken } from '../oauth/token-endpoint.ts'
import type { PersonViewer, Viewer } from '../people/viewer.ts'

const METADATA = '/.well-known/oauth-authorization-server'
const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/mcp'
const BODY_BYTES = 32 * 1024
const METADATA_AGE = 'public, max-age=300'

/** What pages of other origins may send and read. No cookie is read here, so that every origin may ask. */
const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id, retry-after',
} as const
const PREFLIGHT_HEADERS = {
  'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
  'access-control-max-age': '86400',
} as const

/** For answers that hold tokens or lead to them: caches do not store them, and no page may frame them. */
const PRIVATE_HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const

type OAuthName = 'myGrants' | 'endGrant' | 'oauthRequest' | 'oauthDecision'

/** The endpoints of people that are about apps. `null` where sign-in is not set up. */
export function oauthHandlers({ oauth }: Pick<Deps, 'oauth'>): Pick<Handlers, OAuthName> {
  if (oauth === null) return { myGrants: null, endGrant: null, oauthRequest: null, oauthDecision: null }
  return {
    myGrants: async ({ viewer }) => await listGrants(oauth, requirePerson(viewer)),
    endGrant: async ({ viewer, subject, origin = null }) => {
      await endGrant(oauth, { viewer: requirePerson(viewer), origin }, subject)
      return null
    },
    oauthRequest: async ({ viewer, query }) => await describeRequest(oauth, query, viewer),
    oauthDecision: async ({ viewer, body, origin = null }) =>
      await decide(oauth, body, { viewer: requirePerson(viewer), origin }),
  }
}

/** The guard of these endpoints admits persons only; this narrows the type. @throws ServiceError `auth.required` */
function requirePerson(viewer: Viewer): PersonViewer {
  if (viewer.kind !== 'person') throw new ServiceError('auth.required')
  return viewer
}

/** The authorization server, for apps and the browsers that they open. */
export function registerOAuth(app: FastifyInstance, oauth: OAuthDeps): void {
  app.register(async instance => registerForApps(instance, oauth))
  app.register(async instance => {
    instance.get('/oauth/authorize', { schema: { hide: true } }, async (request, reply) => {
      reply.headers(PRIVATE_HEADERS)
      const query = request.query as Parameters<typeof authorize>[1]
      return sendAuthorization(request, reply, await authorize(oauth, query, clientNetwork(request.ip)))
    })
  })
}

async function registerForApps(app: FastifyInstance, oauth: OAuthDeps): Promise<void> {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_BYTES }, (_request, body, done) => done(null, body))
  app.setErrorHandler(answerOAuthError)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({ ...PRIVATE_HEADERS, ...CORS_HEADERS })
    done()
  })

  readable(app, METADATA, async (_request, reply) =>
    reply.header('cache-control', METADATA_AGE).send(serverMetadata(oauth.baseUrl)),
  )
  readable(app, declarePrefix(app, RESOURCE_METADATA), async (request, reply) => {
    const described = describeResource(request.rawAddress ?? '', oauth.baseUrl, oauth.hosts)
    if (described === null) throw new ServiceError('request.not_found')
    return reply.header('cache-control', METADATA_AGE).send(described)
  })
  writable(app, '/oauth/token', async (request, reply) =>
    reply.send(await answerToken(oauth, formOf(request), originOf(request))),
  )
  writable(app, '/oauth/revoke', async (request, reply) => {
    await revokeToken(oauth, formOf(request), originOf(request))
    return reply.send()
  })
  writable(app, '/oauth/register', async (request, reply) => reply.code(201).send(await register(oauth, jsonOf(request))))
}

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

function readable(app: FastifyInstance, url: string, handler: Answer): void {
  app.get(url, { schema: { hide: true } }, handler)
  preflight(app, url, 'GET')
}

function writable(app: FastifyInstance, url: string, handler: Answer): void {
  app.post(url, { schema: { hide: true } }, handler)
  preflight(app, url, 'POST')
}

function preflight(app: FastifyInstance, url: string, method: string): void {
  app.options(url, { schema: { hide: true } }, async (_request, reply) =>
    reply
      .headers({ ...PREFLIGHT_HEADERS, 'access-control-allow-methods': method })
      .code(204)
      .send(),
  )
}

/** The answer of RFC 7591, 3.2.1: what was registered, which may be less than what was asked for. */
async function register({ registrations, clock }: OAuthDeps, json: unknown) {
  const { client, issuedAt } = await registrations.register(json, clock.now())
  return {
    client_id: client.id,
    client_id_issued_at: issuedAt,
    client_name: client.name,
    ...(client.uri === null ? {} : { client_uri: client.uri }),
    redirect_uris: client.redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
}

/**
 * Parameters without a value are left out (RFC 6749, 3.2).
 *
 * @throws RefusedToken for another content type, a malformed form, or a repeated parameter
 */
function formOf({ headers, body }: FastifyRequest): Form {
  const form = isOfType(headers['content-type'], FORM_TYPE) ? parseForm(String(body ?? '')) : null
  if (form === null) throw new RefusedToken('invalid_request', 'the body must be a form whose parameters occur once')
  return new Map([...form].filter(([, value]) => value !== ''))
}

/** @throws RefusedMetadata for another content type or malformed JSON */
function jsonOf({ headers, body }: FastifyRequest): unknown {
  try {
    if (isOfType(headers['content-type'], 'application/json')) return JSON.parse(String(body ?? ''))
  } catch {
    // Answered as the wrong type is.
  }
  throw new RefusedMetadata('invalid_client_metadata', 'the body must be JSON')
}

function isOfType(contentType: string | undefined, type: string): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === type
}

/** Errors in the shape that clients of OAuth read (RFC 6749, 5.2; RFC 7591, 3.2.2). */
function answerOAuthError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (thrown instanceof RefusedToken || thrown instanceof RefusedMetadata) {
    reply.code(400).send({ error: thrown.code, error_description: thrown.message })
    return
  }
  const { status, details, message } = loggedError(thrown, request)
  if (details.retryAfter !== undefined) reply.header('retry-after', Math.ceil(details.retryAfter))
  reply.code(status).send({ error: errorOfStatus(status), error_description: message })
}

function errorOfStatus(status: number): string {
  if (status < 500) return 'invalid_request'
  return status === 503 ? 'temporarily_unavailable' : 'server_error'
}

function sendAuthorization({ headers }: FastifyRequest, reply: FastifyReply, authorization: Authorization): FastifyReply {
  if (authorization.status === 'redirect') return reply.code(302).header('location', authorization.location).send()
  const { language } = chooseLanguage(null, headers['accept-language'] ?? '')
  const { status, html } = formatRefusal(authorization, language)
  return reply
    .code(status)
    .headers({ 'content-language': language, vary: 'accept-language' })
    .type('text/html; charset=utf-8')
    .send(html)
}
