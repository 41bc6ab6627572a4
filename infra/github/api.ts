import { setTimeout as sleep } from 'node:timers/promises'
import { Octokit } from '@octokit/core'
import type { HostQuota } from '#core/ports/git-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { type ApiAnswer, readRefusal, type Trouble, troubleOf, UNAVAILABLE } from './answers.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { createQuota } from './quota.ts'

/** GitHub's API as one credential sees it. Nothing here waits in a queue or sleeps until a limit is over. */
export interface GitHubApi {
  /** @param url with its placeholders, below the API's base: `/repos/{owner}/{repo}` */
  get(url: string, parameters: Readonly<Record<string, string | number>>, options?: AskOptions): Promise<ApiAnswer>
  /** Where the API sends whoever asks for this, as a whole address. */
  locate(url: string, parameters: Readonly<Record<string, string | number>>, options?: AskOptions): Promise<Place | Trouble>
  /** Whether the credential may see what not everyone sees. Unknown counts as yes; it is told by the first answer. */
  readonly maySeePrivate: boolean
  /** See `GitHost.quota`. */
  quota(): HostQuota | null
}

export interface Place {
  status: 'ok'
  url: string
}

export interface AskOptions {
  /** Of the answer that is known. */
  etag?: string
  /** Media type. Default: JSON. */
  accept?: string
  /** The host has shown before what this is about, so that it may take from what is kept for such questions. */
  isAgain?: boolean
  /** Makes the data of a good answer. Default: parses it whole. A failure is no answer. */
  read?(body: AsyncIterable<Uint8Array>): Promise<unknown>
  maxBytes?: number
  milliseconds?: number
  signal?: AbortSignal
}

export interface GitHubApiOptions {
  /** Without a slash at its end. */
  apiUrl: string
  token: string | null
  clock: Clock
  /** Ends everything under way. */
  closing: AbortSignal
  /** Told once, when the token is not accepted. */
  onWarning: (message: string) => void
  answerMs?: number
  retryWithinMs?: number
}

const API_VERSION = '2022-11-28'
const ANSWER_MS = 5_000
const ANSWER_BYTES = 8 * 1024 * 1024
/** One more try where the host or the way to it failed at once. */
const RETRY_AFTER_MS = 100
const RETRY_WITHIN_MS = 1_000
const RETRIED = new Set([500, 502, 503, 504])
/** A host takes those who come again and again with a bad token for attackers. */
const REFUSED_TOKEN_SECONDS = 60
/** With a hundred at once, the host answers nobody for a minute. Whoever comes then is sent away instead of waiting. */
const AT_ONCE = 80
const BUSY: Trouble = { status: 'unavailable', retryAfterSeconds: 1 }
const REDIRECTS = new Set([301, 302, 307, 308])

export function createGitHubApi({ apiUrl, token, clock, closing, onWarning, ...waits }: GitHubApiOptions): GitHubApi {
  const { answerMs = ANSWER_MS, retryWithinMs = RETRY_WITHIN_MS } = waits
  const octokit = new Octokit({
    baseUrl: apiUrl,
    userAgent: 'mountglass',
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    ...(token === null ? {} : { auth: token }),
  })
  const quota = createQuota(clock)
  let scopes: string | null = null
  let isTokenRefused = false
  let running = 0
  /** Until when, in milliseconds since 1970, nobody asks: going on would make it last longer. */
  let pause: { until: number; status: Trouble['status'] } = { until: 0, status: 'unavailable' }

  async function ask(url: string, parameters: object, options: AskOptions): Promise<Said | null> {
    const { etag, accept = 'application/vnd.github+json', read, maxBytes = ANSWER_BYTES } = options
    const signals = [closing, AbortSignal.timeout(options.milliseconds ?? answerMs), ...(options.signal ? [options.signal] : [])]
    try {
      const { status, headers, data } = await octokit.request(`GET ${url}`, {
        ...parameters,
        headers: { accept, 'x-github-api-version': API_VERSION, ...(etag === undefined ? {} : { 'if-none-match': etag }) },
        request: { fetch: boundedFetch(maxBytes), signal: AbortSignal.any(signals), parseSuccessResponseBody: !read },
      })
      return { status, headers, data: read ? await read(data as ReadableStream<Uint8Array>) : data }
    } catch (error) {
      // A refusal carries what was said. Anything else never came to an answer; its text may name the request, so it goes no further.
      const { response } = error as { response?: Said }
      return response ?? null
    }
  }

  async function askTwice(url: string, parameters: object, options: AskOptions): Promise<Said | null> {
    const startedAt = performance.now()
    const said = await ask(url, parameters, options)
    if (said !== null && !RETRIED.has(said.status)) return said
    const mayRetry = said?.headers['retry-after'] === undefined && performance.now() - startedAt < retryWithinMs
    if (!mayRetry || closing.aborted || options.signal?.aborted) return said
    await sleep(RETRY_AFTER_MS)
    return ask(url, parameters, options)
  }

  /** The place that a repository has moved to, once, and only within the API. */
  async function follow({ headers }: Said, options: AskOptions): Promise<Said | null> {
    const target = URL.parse(String(headers.location ?? ''), `${apiUrl}/`)
    if (!target?.href.startsWith(`${apiUrl}/`)) return null
    const said = await askTwice(target.href, {}, options)
    return said === null || REDIRECTS.has(said.status) ? null : said
  }

  function note({ status, headers }: Said, answer: ApiAnswer): void {
    quota.note(headers)
    const given = headers['x-oauth-scopes']
    if (given !== undefined) scopes = String(given)
    const now = clock.now().getTime()
    if (answer.status === 'rate_limited') pause = { until: now + (answer.retryAfterSeconds ?? 0) * 1000, status: answer.status }
    if (status !== 401) return
    pause = { until: now + REFUSED_TOKEN_SECONDS * 1000, status: 'unavailable' }
    if (!isTokenRefused) {
      isTokenRefused = true
      onWarning('GitHub does not accept MOUNTGLASS_GITHUB_TOKEN: no repository of it can be opened until the setting is right')
    }
  }

  /** Says it, unless it is known that nobody should, and takes notice of what the answer tells beside itself. */
  async function exchange(say: () => Promise<Said | null>, { isAgain = false }: AskOptions): Promise<Heard | Trouble> {
    const waitMs = pause.until - clock.now().getTime()
    if (waitMs > 0) return { status: pause.status, retryAfterSeconds: Math.ceil(waitMs / 1000) }
    const waitSeconds = isAgain ? null : quota.waitSeconds()
    if (waitSeconds !== null) return { status: 'rate_limited', retryAfterSeconds: waitSeconds }
    if (running >= AT_ONCE) return BUSY
    running++
    try {
      const said = await say()
      if (said === null) return UNAVAILABLE
      const answer = readSaid(said, clock.now())
      note(said, answer)
      return { status: 'heard', said, answer }
    } finally {
      running--
    }
  }

  return {
    get maySeePrivate() {
      return token !== null && (scopes === null || scopes.split(/,\s*/).includes('repo'))
    },

    quota: () => quota.left(),

    async locate(url, parameters, options = {}) {
      const heard = await exchange(() => askTwice(url, parameters, options), options)
      return heard.status === 'heard' ? (placeOf(heard.said) ?? troubleOf(heard.answer)) : heard
    },

    async get(url, parameters, options = {}) {
      const say = async () => {
        const first = await askTwice(url, parameters, options)
        return first && REDIRECTS.has(first.status) ? await follow(first, options) : first
      }
      const heard = await exchange(say, options)
      return heard.status === 'heard' ? heard.answer : heard
    },
  }
}

interface Heard {
  status: 'heard'
  said: Said
  answer: ApiAnswer
}

interface Said {
  status: number
  headers: Readonly<Record<string, string | number | undefined>>
  data: unknown
}

function placeOf({ status, headers }: Said): Place | null {
  const url = REDIRECTS.has(status) ? URL.parse(String(headers.location ?? '')) : null
  return url && { status: 'ok', url: url.href }
}

function readSaid({ status, headers, data }: Said, now: Date): ApiAnswer {
  if (status !== 200) return readRefusal(status, headers, data, now)
  const { etag, link } = headers
  return { status: 'ok', data, etag: etag === undefined ? null : String(etag), link: link === undefined ? null : String(link) }
}
