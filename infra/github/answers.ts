import { RemoteRefusal } from '#infra/git/upload-pack.ts'

/** The meaning of an answer of GitHub's API, for every question. */
export type ApiAnswer =
  | { status: 'ok'; data: unknown; etag: string | null; link: string | null }
  /** Unchanged since the answer with the etag that was sent. */
  | { status: 'unchanged' }
  /** Absent, invisible to this credential, or blocked for everyone: the host does not say which. */
  | { status: 'missing'; message: string }
  /** The repository has no commit of this name, or no commits. */
  | { status: 'no_commit' }
  | Trouble

/** GitHub cannot be asked now. */
export interface Trouble {
  status: 'rate_limited' | 'unavailable'
  retryAfterSeconds: number | null
}

export const UNAVAILABLE: Trouble = { status: 'unavailable', retryAfterSeconds: null }

/** The trouble, for a question that knows no other outcome. */
export function troubleOf(answer: ApiAnswer): Trouble {
  return answer.status === 'rate_limited' || answer.status === 'unavailable' ? answer : UNAVAILABLE
}

type Headers = Readonly<Record<string, string | number | undefined>>

/** The meaning of a status other than 200. */
export function readRefusal(status: number, headers: Headers, body: unknown, now: Date): Exclude<ApiAnswer, { status: 'ok' }> {
  const message = messageOf(body)
  if (status === 403 && isLimit(headers, message ?? '')) return limited(headers, now)
  switch (status) {
    case 304:
      return { status: 'unchanged' }
    case 400:
    case 414:
      return { status: 'no_commit' }
    case 409: // an empty repository
    case 422:
      if (message !== null) return { status: 'no_commit' }
      break
    case 429:
      return limited(headers, now)
    case 403: // also for blocked repositories, missing single sign-on, suspended installations and IP allow lists
    case 404:
    case 410:
    case 451:
      // Only the API answers with a message. The page of a proxy in front of it says nothing about the repository.
      if (message !== null) return { status: 'missing', message }
  }
  return { status: 'unavailable', retryAfterSeconds: askedWait(headers) }
}

export type GitFailure =
  /** `isBlocked`: the host says that access is blocked for everyone. */
  | { status: 'missing'; isBlocked: boolean }
  /** The repository was renamed. */
  | { status: 'moved' }
  | Trouble

/** The meaning of a refused git request. @param isAnonymous whether the request had no credential: a 401 then means a missing repository */
export function readGitFailure(error: unknown, isAnonymous: boolean): GitFailure {
  const { status, text } = error instanceof RemoteRefusal ? error : { status: 0, text: null }
  if (status >= 300 && status < 400) return { status: 'moved' }
  // Only the host answers with plain text. The page of a proxy in front of it says nothing about the repository.
  if (text === null || LIMIT.test(text)) return UNAVAILABLE
  switch (status) {
    case 401:
      // Any other text asks for a credential.
      return isAnonymous && NOT_FOUND.test(text) ? { status: 'missing', isBlocked: false } : UNAVAILABLE
    case 403: // also for missing single sign-on and suspended installations
    case 451:
      return { status: 'missing', isBlocked: status === 451 || /disabled|blocked/i.test(text) }
    case 404:
    case 410:
      return { status: 'missing', isBlocked: false }
    default:
      return UNAVAILABLE
  }
}

function limited(headers: Headers, now: Date): Trouble {
  return { status: 'rate_limited', retryAfterSeconds: retryAfter(headers, now) ?? SECONDARY_LIMIT_SECONDS }
}

/** GitHub documents this wait for a secondary rate limit without `retry-after`. */
const SECONDARY_LIMIT_SECONDS = 60
/** No rate limit lasts longer. A longer one is an error or a wrong clock, and must not stop all questions. */
const LONGEST_LIMIT_SECONDS = 3_600

const LIMIT = /rate limit|abuse|too many requests|temporarily limiting/i
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
  const asked = secondsOf(headers['retry-after'])
  return asked === null ? null : bounded(asked)
}

function bounded(seconds: number): number {
  return Math.min(seconds, LONGEST_LIMIT_SECONDS)
}

function secondsOf(value: string | number | undefined): number | null {
  return value !== undefined && /^\d{1,10}$/.test(String(value)) ? Number(value) : null
}

/** `null` when the answer is not one of the API, which always has a message. */
function messageOf(body: unknown): string | null {
  return typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string' ? body.message : null
}
