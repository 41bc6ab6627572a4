import { createHash, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Scene } from '../bodies.ts'
import { type FakeAnswer, type FakeRequest, header, textAnswer } from '../http.ts'
import type { CredentialKind } from '../kinds.ts'
import type { Budget, LimitKeeper } from '../limits.ts'
import type { RequestRecord } from '../log.ts'
import { faultOfAnswer } from '../schema.ts'
import { ACCOUNT_ROUTES } from './accounts.ts'
import { APP_ROUTES } from './apps.ts'
import { type Call, matchPath, notFound, type RestAnswer, type Route, refuse } from './call.ts'
import { REPOSITORY_ROUTES } from './repositories.ts'

/** Versions of the API by date; the first is what an unnamed one means. */
const VERSIONS = ['2022-11-28', '2026-03-10']

/** Answers one request of `api.github.com`. */
export type Api = (scene: Scene, request: FakeRequest, record: RequestRecord) => Promise<FakeAnswer>

/** @param onFault told of every answer that is not as the description says; the client gets a 500 then */
export function createApi(limits: LimitKeeper, onFault: (fault: string) => void): Api {
  const routes = [rateLimitRoute(limits), ...APP_ROUTES, ...ACCOUNT_ROUTES, ...REPOSITORY_ROUTES]

  return async (scene, request, record) => {
    if (!header(request, 'user-agent')) return textAnswer(403, NO_USER_AGENT, { 'content-type': 'text/html; charset=utf-8' })
    if (request.method === 'OPTIONS') return { status: 204, headers: PREFLIGHT }

    const { credential } = scene
    const end = limits.begin(credential)
    try {
      const requestId = randomUUID().toUpperCase()
      const found = await findRoute(routes, scene, request)
      const isFree = found?.route.free === true
      const refused = isFree ? null : limits.refuse(credential, request.method, requestId)
      if (refused) return withCommonHeaders(scene, limits.budget(credential), requestId, refused)

      const call: Call = { ...scene, request, params: found?.params ?? [], docs: found?.route.docs ?? '' }
      const given = await answerCall(call, found?.route ?? null)
      const fault = found && isDescribed(request, found.route) ? faultOf(found.route, given) : null
      if (fault !== null) {
        onFault(fault)
        return textAnswer(500, `this stand-in made an answer that is not as described: ${fault}`)
      }
      const answer = finish(scene, request, given)
      // Who is known pays nothing for hearing that nothing changed.
      const isPaid = !isFree && (answer.status !== 304 || credential.kind === 'anonymous')
      if (isPaid) limits.count(credential)
      record.counted = isPaid
      return withCommonHeaders(scene, limits.budget(credential), requestId, compress(request, answer))
    } finally {
      end()
    }
  }
}

/** The description is of the older version, from which the newer one differs in one answer that is given here. */
function isDescribed(request: FakeRequest, { operation }: Route): boolean {
  return versionOf(request) === VERSIONS[0] || operation !== 'GET /rate_limit'
}

function faultOf({ operation }: Route, { status, json }: RestAnswer): string | null {
  return json === undefined ? null : faultOfAnswer(operation, status, json)
}

const NO_USER_AGENT =
  '\r\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). Check https://developer.github.com for other possible causes.\r\n'

const PREFLIGHT = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers':
    'Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Unmodified-Since, Accept-Encoding, X-GitHub-OTP, X-Requested-With, User-Agent, GraphQL-Features, X-Github-Next-Global-ID, X-GitHub-Api-Version, X-Fetch-Nonce',
  'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE',
  'access-control-max-age': '86400',
}

async function answerCall(call: Call, route: Route | null): Promise<RestAnswer> {
  const { credential, request } = call
  if (credential.kind === 'invalid') return refuse({ docs: '' }, 401, credential.message)
  if (call.world.privateMode && credential.kind === 'anonymous')
    return refuse({ docs: '' }, 401, 'Must authenticate to access this API.')
  const version = versionOf(request)
  // The wording is UNVERIFIED.
  if (!VERSIONS.includes(version)) return refuse(call, 400, `Unsupported API version: ${version}`)
  if (credential.kind === 'installation' && credential.installation.suspendedAt !== null)
    return refuse(call, 403, 'This installation has been suspended')
  if (credential.kind === 'personal' && credential.user.suspended) return refuse(call, 403, 'Sorry. Your account was suspended.')
  return route === null ? notFound(call) : route.answer(call)
}

function versionOf(request: FakeRequest): string {
  return header(request, 'x-github-api-version') ?? VERSIONS[0] ?? ''
}

function rateLimitRoute(limits: LimitKeeper): Route {
  return {
    operation: 'GET /rate_limit',
    docs: 'rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user',
    free: true,
    answer: ({ credential, request }) => {
      const { limit, used, resetsAt } = limits.budget(credential)
      const core = { limit, used, remaining: limit - used, reset: Math.ceil(resetsAt / 1000) }
      const untouched = (size: number) => ({ limit: size, used: 0, remaining: size, reset: core.reset })
      const resources = { core, search: untouched(30), graphql: untouched(5000), code_search: untouched(10) }
      // The newer version names the budget of the API only among the others.
      return { status: 200, json: versionOf(request) === VERSIONS[0] ? { resources, rate: core } : { resources } }
    },
  }
}

async function findRoute(
  routes: readonly Route[],
  scene: Scene,
  request: FakeRequest,
): Promise<{ route: Route; params: string[] } | null> {
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const path = await namedPath(scene, request.path)
  for (const route of routes) {
    const params = matchPath(route, method, path)
    if (params) return { route, params }
  }
  return null
}

/** The numeric forms, which redirects and links between pages use, with names instead. */
async function namedPath({ world }: Scene, path: string): Promise<string> {
  const [, kind = '', id = '', rest = ''] = /^\/(repositories|user|organizations)\/(\d+)(\/.*)?$/.exec(path) ?? []
  if (kind === 'repositories') {
    const repository = await world.repositoryById(Number(id))
    return repository ? `/repos/${repository.owner.login}/${repository.name}${rest}` : path
  }
  const account = [...world.accounts].find(one => one.id === Number(id))
  if (kind === '' || !account) return path
  return `/${kind === 'user' ? 'users' : 'orgs'}/${account.login}${rest}`
}

/** The answer as it goes out, or 304 where the client has it already. */
function finish({ credential }: Scene, request: FakeRequest, given: RestAnswer): FakeAnswer {
  const { status, json, headers = {} } = given
  const isJson = json !== undefined
  const body = isJson ? JSON.stringify(json) : given.body
  const type: Record<string, string> = isJson ? { 'content-type': 'application/json; charset=utf-8' } : {}
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isRead || status !== 200 || (typeof body !== 'string' && !given.etag))
    return { status, headers: { ...type, ...headers }, ...(body === undefined ? {} : { body }) }

  const etag = given.etag ?? weakTag(String(body), credential.kind, header(request, 'authorization'))
  const shared = credential.kind === 'anonymous' ? 'public' : 'private'
  const caching = {
    etag,
    'cache-control': `${shared}, max-age=60, s-maxage=60`,
    vary: 'Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, Accept, X-Requested-With',
  }
  if (isUnchanged(request, etag, headers['last-modified'])) return { status: 304, headers: { ...headers, ...caching } }
  return { status, headers: { ...type, ...headers, ...caching }, ...(body === undefined ? {} : { body }) }
}

/** The same body has another tag for every token: a token of an hour never meets its own tag again. */
function weakTag(body: string, kind: CredentialKind, authorization: string | null): string {
  const hash = createHash('sha256').update(body)
  if (kind !== 'anonymous' && kind !== 'client') hash.update(`\0${authorization}`)
  return `W/"${hash.digest('hex')}"`
}

/** A tag says more than a date, so the date counts only without one. */
function isUnchanged(request: FakeRequest, etag: string, changed: string | undefined): boolean {
  const known = header(request, 'if-none-match')
  if (known !== null) return isKnown(etag, known)
  const since = Date.parse(header(request, 'if-modified-since') ?? '')
  return changed !== undefined && Date.parse(changed) <= since
}

function isKnown(etag: string, known: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return known.split(',').some(tag => opaque(tag) === opaque(etag) || tag.trim() === '*')
}

const COMPRESSED_FROM_BYTES = 256

function compress(request: FakeRequest, answer: FakeAnswer): FakeAnswer {
  const { body, headers } = answer
  if (typeof body !== 'string' || body.length < COMPRESSED_FROM_BYTES) return answer
  if (!/\bgzip\b/.test(header(request, 'accept-encoding') ?? '')) return answer
  return { ...answer, body: gzipSync(body, { level: 1 }), headers: { ...headers, 'content-encoding': 'gzip' } }
}

function withCommonHeaders({ world, credential }: Scene, budget: Budget, requestId: string, answer: FakeAnswer): FakeAnswer {
  const { limit, used, resetsAt } = budget
  return {
    ...answer,
    headers: {
      server: 'github.com',
      date: new Date(world.clock.now()).toUTCString(),
      'access-control-allow-origin': '*',
      'access-control-expose-headers': EXPOSED,
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'origin-when-cross-origin, strict-origin-when-cross-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'deny',
      'x-github-media-type': 'github.v3; format=json',
      'x-github-api-version-selected': VERSIONS[0] ?? '',
      'x-github-request-id': requestId,
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(limit - used),
      'x-ratelimit-reset': String(Math.ceil(resetsAt / 1000)),
      'x-ratelimit-resource': 'core',
      'x-ratelimit-used': String(used),
      ...(credential.kind === 'personal' && !credential.isFineGrained
        ? { 'x-oauth-scopes': credential.scopes.join(', '), 'x-accepted-oauth-scopes': 'repo' }
        : {}),
      ...answer.headers,
    },
  }
}

const EXPOSED =
  'ETag, Link, Location, Retry-After, X-GitHub-OTP, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, X-RateLimit-Resource, X-RateLimit-Reset, X-OAuth-Scopes, X-Accepted-OAuth-Scopes, X-Poll-Interval, X-GitHub-Media-Type, X-GitHub-SSO, X-GitHub-Request-Id, Deprecation, Sunset'
