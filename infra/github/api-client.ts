import { setTimeout as sleep } from 'node:timers/promises'
import { Octokit } from '@octokit/core'
import { visibleLine } from '#core/hidden-text.ts'
import type { HostQuota, HostRepository } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { type ApiAnswer, type HostFailure, type Refused, readRefusal, UNAVAILABLE } from './answers.ts'
import type { Warn } from './daily-warnings.ts'
import { Pause } from './git-pauses.ts'
import { createQuota, type Quota, type Subject } from './quota.ts'

export interface ApiClientOptions {
  /** Without a trailing slash. */
  apiUrl: string
  /** `null`: asks without a credential. */
  token: string | null
  /** Makes the client of a credential that is no token. Default: that of `token`. */
  connect?: ((options: OctokitOptions) => Promise<Octokit>) | undefined
  /** Of the API: `2022-11-28`. */
  version: string
  clock: Clock
  /** Aborts everything under way. */
  closing: AbortSignal
  warn: Warn
  /** Receives the headers of every answer. */
  onHeaders?(headers: Headers): void
  /** Timeout of one request. Default: 5 s. */
  answerMs?: number | undefined
  /** A failed request is retried only if it failed within this time. Default: 1 s. */
  retryWithinMs?: number | undefined
}

type OctokitOptions = NonNullable<ConstructorParameters<typeof Octokit>[0]>

export type Headers = Readonly<Record<string, string | number | undefined>>

/** A question to the API. */
export interface Question {
  /** Default: `GET`. */
  method?: 'GET' | 'POST'
  /** Template below the API's base: `/repos/{owner}/{repo}` */
  url: string
  parameters: Readonly<Record<string, unknown>>
  options: AskOptions
}

export interface AskOptions {
  /** The repository in which the question is, where another one may have its name by now. Private ones are asked about with a credential of their own. */
  of?: Pick<HostRepository, 'id' | 'owner' | 'name'>
  /** Etag of the cached answer. */
  etag?: string
  /** Media type. Default: JSON. */
  accept?: string
  /** Which part of the quota the question may use. Default: `shown`. */
  subject?: Subject
  /** Parses the body of a successful answer. Default: parses it as JSON, at once. An error counts as no answer. */
  read?(body: AsyncIterable<Uint8Array>): Promise<unknown>
  maxBytes?: number
  milliseconds?: number
  signal?: AbortSignal
}

export const ANSWER_MS = 5_000
const ANSWER_BYTES = 8 * 1024 * 1024
/** Delay of the one retry. Only a failure within `RETRY_WITHIN_MS` is retried. */
const RETRY_AFTER_MS = 100
const RETRY_WITHIN_MS = 1_000
const RETRIED = new Set([500, 502, 503, 504])
/** From a hundred concurrent requests on, the host blocks the credential for a minute. Further questions fail at once, those about what may not exist first. */
const AT_ONCE = { known: 80, shown: 60, name: 40, hash: 40, account: 40, ref: 40, page: 40, history: 20 } satisfies Record<
  Subject,
  number
>
const BUSY: HostFailure = { status: 'unavailable', retryAfterSeconds: 1 }
const REDIRECTS = new Set([301, 302, 307, 308])

interface RawAnswer {
  status: number
  headers: Headers
  data: unknown
}

/**
 * The API with one credential, or without: a quota, a pause and a number of running requests of its own. It never queues a question or
 * sleeps until a rate limit ends.
 */
export class ApiClient {
  readonly #options: ApiClientOptions
  readonly #octokit: () => Promise<Octokit>
  readonly #quota: Quota
  readonly #pause: Pause
  #running = 0

  constructor(options: ApiClientOptions) {
    const { apiUrl, token, clock } = options
    this.#options = options
    this.#quota = createQuota(clock)
    this.#pause = new Pause(clock)
    const octokit = { baseUrl: apiUrl, userAgent: USER_AGENT, log: SILENT }
    const { connect } = options
    this.#octokit = once(
      connect ? () => connect(octokit) : async () => new Octokit(token === null ? octokit : { ...octokit, auth: token }),
    )
  }

  quota(): HostQuota | null {
    return this.#quota.left()
  }

  /** Why a question may not be asked now; `null` when it may. */
  refusal(subject: Subject): HostFailure | null {
    const paused = this.#pause.refusal()
    if (paused !== null) return paused
    const waitSeconds = this.#quota.waitSeconds(subject)
    if (waitSeconds !== null) return { status: 'rate_limited', retryAfterSeconds: waitSeconds }
    return this.#running >= AT_ONCE[subject] ? BUSY : null
  }

  /** Asks, unless a pause, the quota or the number of running requests forbids it, and notes what the answer tells. */
  async get(question: Question): Promise<ApiAnswer | Refused> {
    const { method = 'GET', url, options } = question
    const { subject = 'shown' } = options
    const refusal = this.refusal(subject)
    if (refusal !== null) return refusal
    const end = this.#quota.spend(subject)
    this.#running++
    let isFree = false
    try {
      const raw = await this.#askFollowing(question)
      if (raw === null) return UNAVAILABLE
      this.#quota.note(raw.headers)
      this.#options.onHeaders?.(raw.headers)
      noteRetirement(this.#options.warn, `${method} ${url}`, raw.headers)
      const answer = readAnswer(raw, this.#options.clock.now())
      if (answer.status === 'rate_limited') return this.#pause.begin(answer)
      if (answer.status !== 'unavailable') this.#pause.noteAnswered()
      isFree = answer.status === 'unchanged' && this.#options.token !== null
      return answer
    } finally {
      this.#running--
      end(isFree)
    }
  }

  async #askFollowing(question: Question): Promise<RawAnswer | null> {
    const first = await this.#askTwice(question)
    return first && REDIRECTS.has(first.status) ? await this.#follow(first, question.options) : first
  }

  async #askTwice(question: Question): Promise<RawAnswer | null> {
    const startedAt = performance.now()
    const raw = await this.#ask(question)
    if (raw !== null && !RETRIED.has(raw.status)) return raw
    const mayRetry =
      raw?.headers['retry-after'] === undefined &&
      performance.now() - startedAt < (this.#options.retryWithinMs ?? RETRY_WITHIN_MS)
    if (!mayRetry || this.#options.closing.aborted || question.options.signal?.aborted) return raw
    await sleep(RETRY_AFTER_MS)
    return this.#ask(question)
  }

  /** `null` when no answer came. */
  async #ask({ method = 'GET', url, parameters, options }: Question): Promise<RawAnswer | null> {
    const { etag, accept = 'application/vnd.github+json', read, maxBytes = ANSWER_BYTES } = options
    const { closing, answerMs = ANSWER_MS, version } = this.#options
    const timeout = AbortSignal.timeout(options.milliseconds ?? answerMs)
    const signals = [closing, timeout, ...(options.signal ? [options.signal] : [])]
    const request = {
      fetch: boundedFetch(maxBytes),
      signal: AbortSignal.any(signals),
      parseSuccessResponseBody: !read,
      // Otherwise it writes a line to the console for every answer of a version that GitHub is about to retire.
      log: SILENT,
    }
    try {
      const octokit = await this.#octokit()
      const { status, headers, data } = await octokit.request(`${method} ${url}`, {
        ...parameters,
        headers: { accept, 'x-github-api-version': version, ...(etag === undefined ? {} : { 'if-none-match': etag }) },
        request,
      })
      return { status, headers, data: read ? await read(data as ReadableStream<Uint8Array>) : data }
    } catch (error) {
      // The error of a refusal has the response. Any other error means that no answer came; its text may hold the request, so it is dropped.
      const { response } = error as { response?: RawAnswer }
      return response ?? null
    }
  }

  /** Follows the redirect of a renamed repository, once, and only within the API. */
  async #follow({ headers }: RawAnswer, options: AskOptions): Promise<RawAnswer | null> {
    const { apiUrl } = this.#options
    const target = URL.parse(String(headers.location ?? ''), `${apiUrl}/`)
    if (!target?.href.startsWith(`${apiUrl}/`)) return null
    const raw = await this.#askTwice({ url: target.href, parameters: {}, options })
    return raw === null || REDIRECTS.has(raw.status) ? null : raw
  }
}

export const USER_AGENT = 'mountglass'
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null
  return () => {
    made ??= make()
    return made
  }
}

function readAnswer({ status, headers, data }: RawAnswer, now: Date): ApiAnswer | Refused {
  if (status !== 200 && status !== 201) return readRefusal(status, headers, data, now)
  const { etag, link } = headers
  return { status: 'ok', data, etag: etag === undefined ? null : String(etag), link: link === undefined ? null : String(link) }
}

/**
 * A `fetch` that does not follow redirects. Reading a body longer than `maxBytes` throws.
 *
 * @param maxBytes of a body, after decompression
 */
export function boundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, { ...init, redirect: 'manual' })
    if (answer.body === null) return answer
    const { status, statusText, headers } = answer
    return new Response(answer.body.pipeThrough(boundary(maxBytes)), { status, statusText, headers })
  }
}

function boundary(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes
  return new TransformStream({
    transform(chunk, controller) {
      left -= chunk.length
      if (left < 0) controller.error(new Error(`the answer is longer than ${maxBytes} bytes`))
      else controller.enqueue(chunk)
    },
  })
}

/** Longest part of a header that is quoted, in UTF-16 units. */
const HEADER_LENGTH = 40

/**
 * Warns that GitHub announces the end of an endpoint, which it does in every answer of it.
 *
 * @param endpoint method and template of the path: it names no repository
 * @param headers of an answer, untrusted
 */
export function noteRetirement(
  warn: Warn,
  endpoint: string,
  { deprecation, sunset }: Readonly<Record<string, string | number | undefined>>,
): void {
  if (deprecation === undefined && sunset === undefined) return
  const since = deprecation === undefined ? '' : `, deprecated ${dateOf('since', deprecation)},`
  const end = sunset === undefined ? 'at a date that is not told yet' : dateOf('on', sunset)
  warn(
    `retirement ${endpoint}`,
    `GitHub stops answering ${endpoint} of this version of its API${since} ${end}: update Mountglass before`,
  )
}

/** `Deprecation` has the form `@<seconds since 1970>` (RFC 9745), in older drafts an HTTP date or `true`; `Sunset` is an HTTP date (RFC 8594). */
function dateOf(preposition: string, header: string | number): string {
  const seconds = /^@(\d{1,11})$/.exec(String(header).trim())?.[1]
  if (seconds !== undefined) return `${preposition} ${new Date(Number(seconds) * 1000).toUTCString()}`
  return `${preposition} ${visibleLine(String(header)).slice(0, HEADER_LENGTH)}`
}
