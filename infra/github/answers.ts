import { RemoteRefusal } from '#infra/git/upload-pack.ts'

/** What an answer of GitHub's API means to us, whoever asked for what. */
export type ApiAnswer =
  | { status: 'ok'; data: unknown; etag: string | null; link: string | null }
  /** As it was when the tag that was sent along was given. */
  | { status: 'unchanged' }
  /** Absent, or not to be seen by this credential, or withheld from everyone: nobody can tell which. */
  | { status: 'missing'; message: string }
  /** The repository has no commit under this name, or none at all. */
  | { status: 'no_commit' }
  | Trouble

/** GitHub cannot be asked now. */
export interface Trouble {
  status: 'rate_limited' | 'unavailable'
  retryAfterSeconds: number | null
}

export const UNAVAILABLE: Trouble = { status: 'unavailable', retryAfterSeconds: null }

/** Why there is no answer to a question of which nothing else was expected. */
export function troubleOf(answer: ApiAnswer): Trouble {
  return answer.status === 'rate_limited' || answer.status === 'unavailable' ? answer : UNAVAILABLE
}

type Headers = Readonly<Record<string, string | number | undefined>>

/** The meaning of a status that is no success. A pure function of what GitHub said. */
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
    case 403: // also how blocked repositories, missing single sign-on, suspended installations and address lists answer
    case 404:
    case 410:
    case 451:
      // The API says so in words of its own; a page of something that stands before it says nothing of the repository.
      if (message !== null) return { status: 'missing', message }
  }
  return { status: 'unavailable', retryAfterSeconds: askedWait(headers) }
}

export type GitFailure =
  /** `isBlocked`: the host withholds it from everyone, and says so. */
  | { status: 'missing'; isBlocked: boolean }
  /** It has another name by now. */
  | { status: 'moved' }
  | Trouble

/** What it means that git is refused. @param isAnonymous whether git came without a credential: only then may it be one that lacks */
export function readGitFailure(error: unknown, isAnonymous: boolean): GitFailure {
  const { status, text } = error instanceof RemoteRefusal ? error : { status: 0, text: null }
  if (status >= 300 && status < 400) return { status: 'moved' }
  // A page of something that stands before the host says nothing of the repository.
  if (text === null || LIMIT.test(text)) return UNAVAILABLE
  switch (status) {
    case 401:
      return isAnonymous ? { status: 'missing', isBlocked: false } : UNAVAILABLE
    case 403: // also how those that did not sign on, and suspended installations, are answered
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

/** As GitHub asks of those whom a secondary limit sends away without saying for how long. */
const SECONDARY_LIMIT_SECONDS = 60
/** No limit lasts longer. What says so is a mistake or another clock, and must not end all asking. */
const LONGEST_LIMIT_SECONDS = 3_600

const LIMIT = /rate limit|abuse|too many requests/i

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

/** `null`: the API would have said something. */
function messageOf(body: unknown): string | null {
  return typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string' ? body.message : null
}
