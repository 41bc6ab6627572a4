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

type Headers = Readonly<Record<string, string | number | undefined>>

/** The meaning of a status that is no success. A pure function of what GitHub said. */
export function readRefusal(status: number, headers: Headers, body: unknown, now: Date): Exclude<ApiAnswer, { status: 'ok' }> {
  const message = messageOf(body)
  switch (status) {
    case 304:
      return { status: 'unchanged' }
    case 400:
    case 409: // an empty repository
    case 414:
    case 422:
      return { status: 'no_commit' }
    case 404:
    case 410:
    case 451:
      return { status: 'missing', message }
    case 429:
      return { status: 'rate_limited', retryAfterSeconds: retryAfter(headers, now) ?? SECONDARY_LIMIT_SECONDS }
    case 403:
      // Also how blocked repositories, missing single sign-on, suspended installations and address lists answer.
      return isLimit(headers, message)
        ? { status: 'rate_limited', retryAfterSeconds: retryAfter(headers, now) ?? SECONDARY_LIMIT_SECONDS }
        : { status: 'missing', message }
    default:
      return { status: 'unavailable', retryAfterSeconds: secondsOf(headers['retry-after']) }
  }
}

/** As GitHub asks of those whom a secondary limit sends away without saying for how long. */
const SECONDARY_LIMIT_SECONDS = 60

function isLimit(headers: Headers, message: string): boolean {
  return (
    headers['retry-after'] !== undefined || String(headers['x-ratelimit-remaining']) === '0' || /rate limit|abuse/i.test(message)
  )
}

function retryAfter(headers: Headers, now: Date): number | null {
  const asked = secondsOf(headers['retry-after'])
  if (asked !== null) return asked
  if (String(headers['x-ratelimit-remaining']) !== '0') return null
  const resetAt = secondsOf(headers['x-ratelimit-reset'])
  return resetAt === null ? null : Math.max(1, Math.ceil(resetAt - now.getTime() / 1000))
}

function secondsOf(value: string | number | undefined): number | null {
  return value !== undefined && /^\d{1,10}$/.test(String(value)) ? Number(value) : null
}

function messageOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string' ? body.message : ''
}
