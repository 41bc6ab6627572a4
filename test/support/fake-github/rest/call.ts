import { accessTo, type Purpose } from '../access.ts'
import type { Scene } from '../bodies.ts'
import { decodeSegment, type FakeAnswer, type FakeRequest, header } from '../http.ts'
import type { JsonObject } from '../schema.ts'
import type { Account, Repository } from '../world.ts'

/** One request of the API on its way to an answer. */
export interface Call extends Scene {
  request: FakeRequest
  /** What stands for the placeholders of the path, decoded. */
  params: readonly string[]
  /** The page of the documentation that refusals name. */
  docs: string
}

/** Either `json`, held to the description, or a plain body. */
export interface RestAnswer {
  status: number
  json?: JsonObject | JsonObject[]
  body?: FakeAnswer['body']
  headers?: Record<string, string>
  /** A tag of the answer's own; a JSON body has one made of itself otherwise. */
  etag?: string
}

export interface Route {
  /** As in the description: `GET /repos/{owner}/{repo}`. */
  operation: string
  docs: string
  /** Whether the last placeholder takes slashes in, as refs have them. */
  greedy?: true
  /** The primary limit does not count it. */
  free?: true
  answer(call: Call): Promise<RestAnswer> | RestAnswer
}

const DOCS = 'https://docs.github.com/rest'

export function refuse(call: Pick<Call, 'docs'>, status: number, message: string, extra: JsonObject = {}): RestAnswer {
  const documentation_url = call.docs === '' ? DOCS : `${DOCS}/${call.docs}`
  return { status, json: { message, documentation_url, status: String(status), ...extra } }
}

export function notFound(call: Pick<Call, 'docs'>): RestAnswer {
  return refuse(call, 404, 'Not Found')
}

/** The repository that the path names, for those who may see it; every other case is answered here. */
export async function withRepository(
  call: Call,
  purpose: Purpose,
  answer: (repository: Repository) => Promise<RestAnswer> | RestAnswer,
): Promise<RestAnswer> {
  const { world, credential } = call
  const { repository, moved } = await findNamed(call)
  if (repository === null) return notFound(call)
  const access = accessTo(world, credential, repository, purpose)
  if (access === 'missing') return notFound(call)
  if (moved) return redirectTo(call, repository)
  switch (access) {
    case 'granted':
      return answer(repository)
    case 'blocked':
      return blockedAnswer(repository)
    case 'saml':
      return samlAnswer(call, repository.owner)
    case 'suspended':
      return refuse(call, 403, 'This installation has been suspended')
    case 'refused':
      return refuse(call, 403, repository.owner.refusesTokens?.api ?? '')
    case 'address':
      return refuse(call, 403, addressRefusal(repository.owner))
    case 'forbidden':
      return refuse(call, 403, 'Resource not accessible by integration')
  }
}

/** By `owner` and `name`, now or before a rename. */
export async function findNamed({ world, params }: Call): Promise<{ repository: Repository | null; moved: boolean }> {
  const [owner = '', name = ''] = params
  const current = await world.repository(owner, name)
  const former = current ? null : world.renamed(owner, name)
  return { repository: current ?? former, moved: former !== null }
}

/** To the same path below the repository's id. */
export function redirectTo(call: Call, repository: Repository): RestAnswer {
  const { request, origins } = call
  const rest = request.path.split('/').slice(4).join('/')
  const query = request.query.toString()
  const url = `${origins.api}/repositories/${repository.id}${rest === '' ? '' : `/${rest}`}${query === '' ? '' : `?${query}`}`
  const documentation_url = `${DOCS}/guides/best-practices-for-using-the-rest-api#follow-redirects`
  return {
    status: 301,
    json: { message: 'Moved Permanently', url, documentation_url },
    headers: { location: url },
  }
}

function blockedAnswer({ blocked }: Repository): RestAnswer {
  const { reason = 'unavailable', createdAt = '' } = blocked ?? {}
  const page = reason === 'dmca' ? 'https://github.com/github/dmca' : 'https://github.com/tos'
  const block = { reason, created_at: createdAt, html_url: page }
  return { status: reason === 'dmca' ? 451 : 403, json: { message: 'Repository access blocked', block } }
}

function samlAnswer(call: Call, owner: Account): RestAnswer {
  const message =
    'Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization.'
  const url = `${call.origins.web}/orgs/${owner.login}/sso?authorization_request=A${owner.id}`
  return { ...refuse(call, 403, message), headers: { 'x-github-sso': `required; url=${url}` } }
}

/** As xaf/omni#670 quotes it. */
export function addressRefusal({ login }: Account): string {
  return `Although you appear to have the correct authorization credentials, the \`${login}\` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.`
}

const PAGE_SIZE = 30
const PAGE_SIZE_MAX = 100

/** One page of a listing with its `Link` header. @param path what the links name, in the numeric form where the host uses it */
export function cutPage<Item>(
  call: Call,
  items: readonly Item[],
  path: string,
): { items: Item[]; headers: Record<string, string> } {
  const { query } = call.request
  const size = Math.min(positive(query.get('per_page')) ?? PAGE_SIZE, PAGE_SIZE_MAX)
  const page = positive(query.get('page')) ?? 1
  const last = Math.max(Math.ceil(items.length / size), 1)
  const link = (number: number, rel: string) => {
    const params = new URLSearchParams(query)
    params.set('page', String(number))
    return `<${call.origins.api}${path}?${params}>; rel="${rel}"`
  }
  const links = [
    ...(page > 1 ? [link(Math.min(page - 1, last), 'prev')] : []),
    ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : []),
    ...(page > 1 ? [link(1, 'first')] : []),
  ]
  const headers: Record<string, string> = links.length === 0 ? {} : { link: links.join(', ') }
  return { items: items.slice((page - 1) * size, page * size), headers }
}

function positive(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null
}

/** Whether the client asks for one of the media types, of whatever version. */
export function accepts(request: FakeRequest, type: 'sha' | 'raw'): boolean {
  return new RegExp(`application/vnd\\.github(\\.v3)?\\.${type}\\b`).test(header(request, 'accept') ?? '')
}

/** The fields of a JSON body; none when it is no object. */
export function jsonBody({ body }: FakeRequest): JsonObject {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
  } catch {
    return {}
  }
}

/** `null` when the path is not of the operation. */
export function matchPath({ operation, greedy }: Route, method: string, path: string): string[] | null {
  const [verb, template = ''] = operation.split(' ')
  if (verb !== method) return null
  const pattern = template.replace(/\{[^}]+\}/g, '([^/]+)')
  const found = new RegExp(`^${greedy ? pattern.replace(/\(\[\^\/\]\+\)$/, '(.+)') : pattern}$`).exec(path)
  const params = found?.slice(1).map(decodeSegment)
  return params?.every(param => param !== null) ? (params as string[]) : null
}
