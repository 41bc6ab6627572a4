import type { FakeClock } from './clock.ts'
import type { Credential } from './credentials.ts'
import type { FakeAnswer } from './http.ts'
import type { CredentialKind } from './kinds.ts'

/** What a credential may ask in an hour. Tokens of one person share one account of requests. */
export interface Limits {
  /** Requests an hour of every credential of the kind. */
  set(kind: CredentialKind, limit: number): void
  /** Nothing is left until the hour is over, for a token, a whole `Basic …`, or (`null`) for those who have neither. */
  exhaust(token: string | null, options?: { status?: 403 | 429; seconds?: number }): void
  /** Requests are sent away by the secondary limit. Without `retryAfterSeconds` the answer does not say for how long. */
  secondary(options?: { status?: 403 | 429; retryAfterSeconds?: number | null; times?: number }): void
  reset(): void
}

export interface Budget {
  limit: number
  used: number
  /** Milliseconds since 1970. */
  resetsAt: number
  /** What an exhausted budget answers with. */
  status: 403 | 429
}

export interface LimitKeeper extends Limits {
  budget(credential: Credential): Budget
  /** The answer of a limit that is reached; `null` when there is room. Takes the secondary limit's points. */
  refuse(credential: Credential, method: string, requestId: string): FakeAnswer | null
  count(credential: Credential): void
  /** Of those under way at once. @returns what ends it */
  begin(credential: Credential): () => void
}

const HOUR = 60 * 60 * 1000
const MINUTE = 60 * 1000

/** GitHub's numbers. That a GitHub App's client id and JWT get 5,000 is UNVERIFIED. */
const DEFAULT_LIMITS: Record<CredentialKind, number> = {
  anonymous: 60,
  invalid: 60,
  personal: 5000,
  user: 5000,
  installation: 5000,
  app: 5000,
  client: 5000,
}

const POINTS_A_MINUTE = 900
const CONCURRENT_REQUESTS = 100

export function createLimits(clock: FakeClock, credentialOf: (token: string | null) => Credential): LimitKeeper {
  let limits = { ...DEFAULT_LIMITS }
  const budgets = new Map<string, Budget>()
  const points = new Map<string, { at: number; cost: number }[]>()
  const running = new Map<string, number>()
  let forced: { status: 403 | 429; retryAfterSeconds: number | null; left: number } | null = null

  const budget = (credential: Credential): Budget => {
    const key = keyOf(credential)
    const known = budgets.get(key)
    if (known && known.resetsAt > clock.now()) return Object.assign(known, { limit: limits[credential.kind] })
    const fresh: Budget = { limit: limits[credential.kind], used: 0, resetsAt: clock.now() + HOUR, status: 403 }
    budgets.set(key, fresh)
    return fresh
  }

  const isOverSecondary = (credential: Credential, method: string): boolean => {
    const key = keyOf(credential)
    const recent = (points.get(key) ?? []).filter(({ at }) => at > clock.now() - MINUTE)
    recent.push({ at: clock.now(), cost: method === 'GET' || method === 'HEAD' ? 1 : 5 })
    points.set(key, recent)
    const sum = recent.reduce((total, { cost }) => total + cost, 0)
    return sum > POINTS_A_MINUTE || (running.get(key) ?? 0) > CONCURRENT_REQUESTS
  }

  return {
    set: (kind, limit) => {
      limits[kind] = limit
    },
    exhaust(token, { status = 403, seconds } = {}) {
      const spent = budget(credentialOf(token))
      spent.used = spent.limit
      spent.status = status
      if (seconds !== undefined) spent.resetsAt = clock.now() + seconds * 1000
    },
    secondary({ status = 403, retryAfterSeconds = 60, times = 1 } = {}) {
      forced = { status, retryAfterSeconds, left: times }
    },
    reset() {
      limits = { ...DEFAULT_LIMITS }
      budgets.clear()
      points.clear()
      forced = null
    },
    budget,
    count: credential => {
      const spent = budget(credential)
      spent.used = Math.min(spent.used + 1, spent.limit)
    },
    begin(credential) {
      const key = keyOf(credential)
      running.set(key, (running.get(key) ?? 0) + 1)
      return () => void running.set(key, (running.get(key) ?? 1) - 1)
    },
    refuse(credential, method, requestId) {
      if (forced && forced.left > 0) {
        forced.left--
        return secondaryAnswer(forced.status, forced.retryAfterSeconds, requestId)
      }
      if (isOverSecondary(credential, method)) return secondaryAnswer(403, 60, requestId)
      const { used, limit, status } = budget(credential)
      return used < limit ? null : primaryAnswer(credential, status, requestId)
    },
  }
}

function keyOf(credential: Credential): string {
  switch (credential.kind) {
    case 'anonymous':
    case 'invalid':
      return 'address'
    case 'personal':
    case 'user':
      return `user ${credential.user.id}`
    case 'installation':
      return `installation ${credential.installation.id}`
    case 'app':
      return `app ${credential.app.id}`
    case 'client':
      return `client ${credential.clientId}`
  }
}

const LIMITS_PAGE = 'https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api'

function primaryAnswer(credential: Credential, status: number, requestId: string): FakeAnswer {
  const who =
    credential.kind === 'personal' || credential.kind === 'user'
      ? `user ID ${credential.user.id}`
      : credential.kind === 'installation'
        ? `installation ID ${credential.installation.id}`
        : '127.0.0.1'
  const hint =
    who === '127.0.0.1'
      ? " (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)"
      : ` If you reach out to GitHub Support for help, please include the request ID ${requestId}.`
  return refusal(status, `API rate limit exceeded for ${who}.${hint}`, LIMITS_PAGE)
}

function secondaryAnswer(status: number, retryAfterSeconds: number | null, requestId: string): FakeAnswer {
  const message = `You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID ${requestId}.`
  const answer = refusal(status, message, `${LIMITS_PAGE}#about-secondary-rate-limits`)
  if (retryAfterSeconds !== null) answer.headers = { ...answer.headers, 'retry-after': String(retryAfterSeconds) }
  return answer
}

/** Answers of the limits say no `status` in their body. UNVERIFIED for today. */
function refusal(status: number, message: string, page: string): FakeAnswer {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: JSON.stringify({ message, documentation_url: page }) }
}
