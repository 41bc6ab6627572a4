import { FetchTooLarge } from '../git/fetch.ts'
import { GitError } from '../git/process.ts'
import { RemoteRefusal } from '../git/upload-pack.ts'

/** The meaning of an answer of GitHub's API, for every question. */
export type ApiAnswer =
  | { status: 'ok'; data: unknown; etag: string | null; link: string | null }
  /** Unchanged since the answer with the etag that was sent. */
  | { status: 'unchanged' }
  /** Absent, invisible to this credential, or blocked for everyone. */
  | { status: 'missing'; message: string }
  /** The repository has no commit of this name, or no commits. */
  | { status: 'no_commit' }
  | HostFailure

/** GitHub cannot be asked now. */
export interface HostFailure {
  status: 'rate_limited' | 'unavailable'
  retryAfterSeconds: number | null
}

/** The host answers this credential, or this request, with a refusal that says nothing about what was asked for. */
export interface Refused {
  status: 'refused'
  /**
   * `token`: the credential itself; `account`: the credential at this account's repositories; `address`: the IP address of this server at this
   * account's repositories, whatever the credential may see; `version`: the version of the API.
   */
  of: 'token' | 'account' | 'address' | 'version'
  /** Of the host, untrusted. */
  message: string
  /** For a git request: the error that says so. */
  error?: unknown
}

export const UNAVAILABLE: HostFailure = { status: 'unavailable', retryAfterSeconds: null }

/** The failure, for a question that knows no other outcome. */
export function failureOf(answer: ApiAnswer): HostFailure {
  return answer.status === 'rate_limited' || answer.status === 'unavailable' ? answer : UNAVAILABLE
}

type Headers = Readonly<Record<string, string | number | undefined>>

/**
 * The meaning of a status other than 200. An outcome without seconds leaves the wait to the caller.
 *
 * Only the API answers with a message. The page of a proxy in front of it says nothing about the repository; but that the question is too long
 * or odd for it (414, 400) says that nothing has such a name.
 */
export function readRefusal(
  status: number,
  headers: Headers,
  body: unknown,
  now: Date,
): Exclude<ApiAnswer, { status: 'ok' }> | Refused {
  const message = messageOf(body)
  if (status === 403 && BLOCKED.test(message ?? '')) return { status: 'missing', message: message ?? '' }
  if (status === 429 || (status === 403 && isLimit(headers, message ?? ''))) return limited(headers, now)
  if (status === 304) return { status: 'unchanged' }
  if (status === 414 || (status === 400 && !VERSION.test(message ?? ''))) return { status: 'no_commit' }
  if (message !== null) {
    switch (status) {
      case 409: // an empty repository
      case 422:
        return { status: 'no_commit' }
      case 404:
      case 451:
        return { status: 'missing', message }
      case 400:
      case 410:
        return { status: 'refused', of: 'version', message }
      case 401:
        return { status: 'refused', of: 'token', message }
      case 403:
        return { status: 'refused', of: forbidden(message), message }
    }
  }
  return { status: 'unavailable', retryAfterSeconds: askedWait(headers) }
}

/** What a 403 refuses, by the words of the host. */
function forbidden(message: string): Refused['of'] {
  return FORBIDDEN.find(([words]) => words.test(message))?.[1] ?? 'account'
}

/** Phrases that no login can hold, since messages name accounts. Every other 403 is a rule of the account that is asked about. */
const FORBIDDEN: readonly (readonly [words: RegExp, of: Refused['of']])[] = [
  [/IP allow list|IP address is not permitted/i, 'address'],
  // The account of the token is suspended, or too many logins failed.
  [/account (?:was|is) suspended|login attempts/i, 'token'],
]

/** Access to the repository is blocked for everyone. */
const BLOCKED = /access blocked|disabled by GitHub staff|DMCA takedown/i
const VERSION = /version/i

export type GitFailure =
  /** `isBlocked`: the host says that access is blocked for everyone. */
  | { status: 'missing'; isBlocked: boolean }
  /** The repository was renamed. */
  | { status: 'moved' }
  | HostFailure

/** Not asked: the host has asked for a pause. */
export class Paused extends Error {
  readonly failure: HostFailure

  constructor(failure: HostFailure) {
    super('GitHub has asked for a pause')
    this.name = 'Paused'
    this.failure = failure
  }
}

/** The meaning of a refused git request. @param isAnonymous whether the request had no credential */
export function readGitFailure(error: unknown, isAnonymous: boolean): GitFailure | Refused {
  if (error instanceof Paused) return error.failure
  const { status, text, retryAfter } = error instanceof RemoteRefusal ? error : { status: 0, text: null, retryAfter: null }
  if (status >= 300 && status < 400) return { status: 'moved' }
  const seconds = boundedSeconds(retryAfter)
  const isBlocked = BLOCKED.test(text ?? '')
  if (status === 429 || LIMIT.test(text ?? '') || (status === 403 && seconds !== null && !isBlocked))
    return { status: 'rate_limited', retryAfterSeconds: seconds }
  // Only the host answers with plain text. The page of a proxy in front of it says nothing about the repository.
  if (text !== null && (status === 451 || isBlocked)) return { status: 'missing', isBlocked: true }
  if (text !== null && status !== 200) {
    if (status === 404 || status === 410) return { status: 'missing', isBlocked: false }
    if (status === 401 && NOT_FOUND.test(text))
      return isAnonymous ? { status: 'missing', isBlocked: false } : { status: 'refused', of: 'account', message: text }
    if (status === 401) return { status: 'refused', of: 'token', message: text }
    if (status === 403) return { status: 'refused', of: forbidden(text), message: text }
  }
  return { status: 'unavailable', retryAfterSeconds: seconds }
}

/** The failure of a git request that may succeed a moment later; `null` when it would fail again. */
export function transientGitFailure(error: unknown): HostFailure | null {
  // Of this machine, or of what the host has sent.
  if (error instanceof GitError || error instanceof FetchTooLarge) return null
  const failure = readGitFailure(error, true)
  if (failure.status === 'rate_limited') return failure.retryAfterSeconds === null ? null : failure
  if (failure.status !== 'unavailable') return null
  const isRefusal =
    error instanceof RemoteRefusal && error.status < 500 && (error.status !== 200 || NOT_OURS.test(error.text ?? ''))
  return isRefusal ? null : failure
}

/** Of git, about an object that the repository does not have. */
const NOT_OURS = /not our ref/i

function limited(headers: Headers, now: Date): HostFailure {
  return { status: 'rate_limited', retryAfterSeconds: retryAfter(headers, now) }
}

/** No rate limit lasts longer. A longer one is an error or a wrong clock, and must not stop all questions. */
const LONGEST_LIMIT_SECONDS = 3_600

/** Phrases that no login can hold, since messages name accounts. */
const LIMIT = /rate limit|abuse detection|too many requests|temporarily limiting/i
const NOT_FOUND = /not found/i

function isLimit(headers: Headers, message: string): boolean {
  return headers['retry-after'] !== undefined || String(headers['x-ratelimit-remaining']) === '0' || LIMIT.test(message)
}

function retryAfter(headers: Headers, now: Date): number | null {
  const asked = askedWait(headers)
  if (asked !== null) return asked
  if (String(headers['x-ratelimit-remaining']) !== '0') return null
  const resetAt = secondsOf(headers['x-ratelimit-reset'])
  return resetAt === null ? null : bounded(Math.max(1, Math.ceil(resetAt - now.getTime() / 1000)))
}

function askedWait(headers: Headers): number | null {
  return boundedSeconds(headers['retry-after'])
}

function boundedSeconds(value: string | number | null | undefined): number | null {
  const asked = secondsOf(value)
  return asked === null ? null : bounded(asked)
}

function bounded(seconds: number): number {
  return Math.min(seconds, LONGEST_LIMIT_SECONDS)
}

function secondsOf(value: string | number | null | undefined): number | null {
  return value !== undefined && value !== null && /^\d{1,10}$/.test(String(value)) ? Number(value) : null
}

/** `null` when the answer is not one of the API, which always has a message. */
function messageOf(body: unknown): string | null {
  return typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string' ? body.message : null
}
