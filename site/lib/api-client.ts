import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type AnswerOf, ENDPOINTS, type EndpointName, type QueryInputOf, type ReadingName } from '#core/contract/endpoints.ts'
import { ErrorAnswer } from '#core/contract/shared.ts'

export type ApiError = ErrorAnswer['error']
export type ApiResult<Name extends ReadingName> =
  | { ok: true; status: number; answer: AnswerOf<Name> }
  | { ok: false; status: number; error: ApiError }

/** Headers of the API's requests that say who asks. */
export type Credentials = Readonly<Partial<Record<'cookie' | 'authorization', string>>>

/** Headers of one request: who asks, and which answer they have already. */
export type RequestHeaders = Credentials & { readonly 'if-none-match'?: string }

/**
 * Carries one GET to the API. `url` is a path with its query; `body` is the answer's text, `etag` its entity tag, where it has one. `answer` is the
 * answer itself, if the API is in the same process: pages say its findings in their language (`core/finding-messages.ts`).
 */
export type ApiTransport = (
  url: string,
  headers: RequestHeaders,
) => Promise<{ status: number; body: string; etag?: string | undefined; answer?: unknown }>

/** A client of the API, typed by the endpoint table; every answer is checked by its contract, here or where it was written. */
export interface ApiClient {
  /**
   * @param subject the variable part of the endpoint's path, percent-encoded: an address with or without its leading slash, a login, or `''`
   * @returns the answer, or the error with its HTTP status
   * @throws Error when the API cannot be reached or breaks its contract
   */
  get<Name extends ReadingName>(name: Name, subject: string, query: QueryInputOf<Name>): Promise<ApiResult<Name>>
  /** The last answer, while it is kept. Whether it is still the same, it does not say. */
  last<Name extends ReadingName>(name: Name, subject: string, query: QueryInputOf<Name>): AnswerOf<Name> | null
  /**
   * The HTTP status of an answer, and a tag that is equal exactly when the answer is.
   *
   * @param known the tag of an earlier answer: while it is the same, the API sends no body
   */
  getTag<Name extends ReadingName>(
    name: Name,
    subject: string,
    query: QueryInputOf<Name>,
    known: string | null,
  ): Promise<{ status: number; tag: string }>
  /** A client of the same API whose requests carry these credentials. */
  as(credentials: Credentials): ApiClient
}

/** Memory of the answers that are kept; what an answer takes as objects, in bytes of its text. */
const KEPT_BYTES = 16 * 1024 * 1024
const BYTES_PER_CHARACTER = 4

/** An answer that may be asked for again, with its entity tag. */
interface KeptAnswer {
  etag: string
  answer: AnswerOf<ReadingName>
  sizeBytes: number
}

/**
 * Answers are kept with their tags, so that one that is still the same is neither sent nor parsed again: the views of an address share that of its
 * mount. Nobody changes an answer.
 *
 * @param transport `app.inject` when one process serves both, `httpTransport` when they are deployed apart
 */
export function createApiClient(transport: ApiTransport): ApiClient {
  const kept = new LRUCache<string, KeptAnswer>({ maxSize: KEPT_BYTES, sizeCalculation: ({ sizeBytes }) => sizeBytes })
  return clientOf(transport, {}, kept)
}

/** @param kept answers of former requests; `null` for a signed-in person, whose answers are never kept */
function clientOf(transport: ApiTransport, credentials: Credentials, kept: LRUCache<string, KeptAnswer> | null): ApiClient {
  return {
    async get(name, subject, query) {
      const url = endpointUrl(name, subject, query)
      const known = kept?.get(url)
      const having = known && { 'if-none-match': known.etag }
      const { status, body, etag, answer: own } = await transport(url, { ...credentials, ...having })
      if (status === 304 && known) return { ok: true, status: 200, answer: known.answer as AnswerOf<typeof name> }
      if (status !== 200) return { ok: false, status, error: ((own as ErrorAnswer) ?? ErrorAnswer.parse(JSON.parse(body))).error }
      const answer = (own ?? ENDPOINTS[name].answer.parse(JSON.parse(body))) as AnswerOf<typeof name>
      if (etag) kept?.set(url, { etag, answer, sizeBytes: BYTES_PER_CHARACTER * (url.length + body.length) })
      return { ok: true, status, answer }
    },
    last: (name, subject, query) =>
      (kept?.peek(endpointUrl(name, subject, query))?.answer ?? null) as AnswerOf<typeof name> | null,
    async getTag(name, subject, query, known) {
      const url = endpointUrl(name, subject, query)
      const having = known?.startsWith('"') ? known : kept?.peek(url)?.etag
      const { status, body, etag } = await transport(url, { ...credentials, ...(having && { 'if-none-match': having }) })
      if (status === 304 && having) return { status: 200, tag: having }
      return { status, tag: etag ?? hash('sha256', body) }
    },
    as: others => clientOf(transport, others, null),
  }
}

/** A transport to an API in another process. */
export function httpTransport(apiOrigin: string): ApiTransport {
  return async (url, headers) => {
    const options = { redirect: 'error', signal: AbortSignal.timeout(30_000), headers: { ...headers } } as const
    const response = await fetch(new URL(url, apiOrigin), options)
    return { status: response.status, body: await response.text(), etag: response.headers.get('etag') ?? undefined }
  }
}

function endpointUrl(name: EndpointName, subject: string, query: Record<string, string | undefined>): string {
  const path = ENDPOINTS[name].path.replace(/\{\w+\}/, () => subject.replace(/^\//, ''))
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return `/api/v1${path}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`
}
