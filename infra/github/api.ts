import { setTimeout as sleep } from 'node:timers/promises'
import { Octokit } from '@octokit/core'
import type { HostQuota } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { type ApiAnswer, readRefusal, type Trouble, troubleOf, UNAVAILABLE } from './answers.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { createQuota, type Quota, type Subject } from './quota.ts'

/** GitHub's API as one credential sees it. It never queues a question or sleeps until a rate limit ends. */
export interface GitHubApi {
  /** @param url template below the API's base: `/repos/{owner}/{repo}` */
  get(url: string, parameters: Readonly<Record<string, string | number>>, options?: AskOptions): Promise<ApiAnswer>
  /** The target of the API's redirect, as an absolute URL. @param url as for `get` */
  locate(url: string, parameters: Readonly<Record<string, string | number>>, options?: AskOptions): Promise<Place | Trouble>
  /** Why a question may not be asked now; `null` when it may. */
  refusal(subject: Subject): Trouble | null
  /** Whether the credential may see private repositories. `true` until the first answer tells its scopes. */
  readonly maySeePrivate: boolean
  /** See `GitHost.quota`. */
  quota(): HostQuota | null
}

export interface Place {
  status: 'ok'
  url: string
}

export interface AskOptions {
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

export interface GitHubApiOptions {
  /** Without a trailing slash. */
  apiUrl: string
  token: string | null
  clock: Clock
  /** Aborts everything under way. */
  closing: AbortSignal
  /** Called once, when the token is refused. */
  onWarning: (message: string) => void
  /** Timeout of one request. Default: 5 s. */
  answerMs?: number
  /** A failed request is retried only if it failed within this time. Default: 1 s. */
  retryWithinMs?: number
}

const API_VERSION = '2022-11-28'
export const ANSWER_MS = 5_000
const ANSWER_BYTES = 8 * 1024 * 1024
/** Delay of the one retry. Only a failure within `RETRY_WITHIN_MS` is retried. */
const RETRY_AFTER_MS = 100
const RETRY_WITHIN_MS = 1_000
const RETRIED = new Set([500, 502, 503, 504])
/** Pause after a refused token: repeated attempts look like an attack to the host. */
const REFUSED_TOKEN_SECONDS = 60
/** From a hundred concurrent requests on, the host blocks the credential for a minute. Further questions fail at once, those about what may not exist first. */
const AT_ONCE = { known: 80, shown: 60, name: 40, hash: 40, account: 40 } satisfies Record<Subject, number>
const BUSY: Trouble = { status: 'unavailable', retryAfterSeconds: 1 }
const REDIRECTS = new Set([301, 302, 307, 308])

export function createGitHubApi(options: GitHubApiOptions): GitHubApi {
  return new OctokitApi(options)
}

interface RawAnswer {
  status: number
  headers: Readonly<Record<string, string | number | undefined>>
  data: unknown
}

interface Answered {
  status: 'answered'
  raw: RawAnswer
  answer: ApiAnswer
}

class OctokitApi implements GitHubApi {
  readonly #options: GitHubApiOptions
  readonly #octokit: Octokit
  readonly #quota: Quota
  #scopes: string | null = null
  #isTokenRefused = false
  #running = 0
  /** No question before `until`, in milliseconds since 1970: it would prolong a rate limit. */
  #pause: { until: number; status: Trouble['status'] } = { until: 0, status: 'unavailable' }

  constructor(options: GitHubApiOptions) {
    const { apiUrl, token, clock } = options
    this.#options = options
    this.#quota = createQuota(clock)
    this.#octokit = new Octokit({
      baseUrl: apiUrl,
      userAgent: 'mountglass',
      log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      ...(token === null ? {} : { auth: token }),
    })
  }

  get maySeePrivate(): boolean {
    return this.#options.token !== null && (this.#scopes === null || this.#scopes.split(/,\s*/).includes('repo'))
  }

  quota(): HostQuota | null {
    return this.#quota.left()
  }

  refusal(subject: Subject): Trouble | null {
    const waitMs = this.#pause.until - this.#options.clock.now().getTime()
    if (waitMs > 0) return { status: this.#pause.status, retryAfterSeconds: Math.ceil(waitMs / 1000) }
    const waitSeconds = this.#quota.waitSeconds(subject)
    if (waitSeconds !== null) return { status: 'rate_limited', retryAfterSeconds: waitSeconds }
    return this.#running >= AT_ONCE[subject] ? BUSY : null
  }

  async locate(url: string, parameters: object, options: AskOptions = {}): Promise<Place | Trouble> {
    const answered = await this.#exchange(() => this.#askTwice(url, parameters, options), options)
    return answered.status === 'answered' ? (placeOf(answered.raw) ?? troubleOf(answered.answer)) : answered
  }

  async get(url: string, parameters: object, options: AskOptions = {}): Promise<ApiAnswer> {
    const request = async () => {
      const first = await this.#askTwice(url, parameters, options)
      return first && REDIRECTS.has(first.status) ? await this.#follow(first, options) : first
    }
    const answered = await this.#exchange(request, options)
    return answered.status === 'answered' ? answered.answer : answered
  }

  /** Runs the request, unless a pause, the quota or the number of running requests forbids it, and notes what the answer tells. */
  async #exchange(request: () => Promise<RawAnswer | null>, options: AskOptions): Promise<Answered | Trouble> {
    const { subject = 'shown' } = options
    const refusal = this.refusal(subject)
    if (refusal !== null) return refusal
    this.#quota.spend(subject)
    this.#running++
    try {
      const raw = await request()
      if (raw === null) return UNAVAILABLE
      const answer = readAnswer(raw, this.#options.clock.now())
      this.#note(raw, answer)
      return { status: 'answered', raw, answer }
    } finally {
      this.#running--
    }
  }

  async #askTwice(url: string, parameters: object, options: AskOptions): Promise<RawAnswer | null> {
    const startedAt = performance.now()
    const raw = await this.#ask(url, parameters, options)
    if (raw !== null && !RETRIED.has(raw.status)) return raw
    const mayRetry =
      raw?.headers['retry-after'] === undefined &&
      performance.now() - startedAt < (this.#options.retryWithinMs ?? RETRY_WITHIN_MS)
    if (!mayRetry || this.#options.closing.aborted || options.signal?.aborted) return raw
    await sleep(RETRY_AFTER_MS)
    return this.#ask(url, parameters, options)
  }

  /** `null` when no answer came. */
  async #ask(url: string, parameters: object, options: AskOptions): Promise<RawAnswer | null> {
    const { etag, accept = 'application/vnd.github+json', read, maxBytes = ANSWER_BYTES } = options
    const timeout = AbortSignal.timeout(options.milliseconds ?? this.#options.answerMs ?? ANSWER_MS)
    const signals = [this.#options.closing, timeout, ...(options.signal ? [options.signal] : [])]
    try {
      const { status, headers, data } = await this.#octokit.request(`GET ${url}`, {
        ...parameters,
        headers: { accept, 'x-github-api-version': API_VERSION, ...(etag === undefined ? {} : { 'if-none-match': etag }) },
        request: { fetch: boundedFetch(maxBytes), signal: AbortSignal.any(signals), parseSuccessResponseBody: !read },
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
    const raw = await this.#askTwice(target.href, {}, options)
    return raw === null || REDIRECTS.has(raw.status) ? null : raw
  }

  /** Notes the quota, the scopes of the token, and when to pause. */
  #note({ status, headers }: RawAnswer, answer: ApiAnswer): void {
    this.#quota.note(headers)
    const scopes = headers['x-oauth-scopes']
    if (scopes !== undefined) this.#scopes = String(scopes)
    const now = this.#options.clock.now().getTime()
    if (answer.status === 'rate_limited')
      this.#pause = { until: now + (answer.retryAfterSeconds ?? 0) * 1000, status: answer.status }
    if (status !== 401) return
    this.#pause = { until: now + REFUSED_TOKEN_SECONDS * 1000, status: 'unavailable' }
    if (this.#isTokenRefused) return
    this.#isTokenRefused = true
    this.#options.onWarning(
      'GitHub refuses MOUNTGLASS_GITHUB_TOKEN, so no repository of GitHub can be opened: set a valid token, or remove the setting',
    )
  }
}

function placeOf({ status, headers }: RawAnswer): Place | null {
  const url = REDIRECTS.has(status) ? URL.parse(String(headers.location ?? '')) : null
  return url && { status: 'ok', url: url.href }
}

function readAnswer({ status, headers, data }: RawAnswer, now: Date): ApiAnswer {
  if (status !== 200) return readRefusal(status, headers, data, now)
  const { etag, link } = headers
  return { status: 'ok', data, etag: etag === undefined ? null : String(etag), link: link === undefined ? null : String(link) }
}
