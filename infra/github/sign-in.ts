import { z } from 'zod'
import type { CredentialAnswer, PersonAccess } from '#core/ports/people-host.ts'
import type { Clock } from '#core/ports/system.ts'
import { readRefusal, UNAVAILABLE } from './answers.ts'
import { ANSWER_MS, boundedFetch, noteRetirement, USER_AGENT } from './api-client.ts'
import type { GitHubApp } from './app-tokens.ts'
import type { Warn } from './daily-warnings.ts'

export interface SignInOptions {
  app: GitHubApp
  /** Origin of the host's pages, without a trailing slash. */
  url: string
  /** Without a trailing slash. */
  apiUrl: string
  clock: Clock
  /** Aborts everything under way. */
  closing: AbortSignal
  warn: Warn
  /** Timeout of one request. Default: 5 s. */
  answerMs?: number | undefined
}

/** The web flow of a GitHub App. By hand, since no package of octokit sends the verifier of PKCE. */
export interface SignIn {
  /** See `PeopleHost.signInUrl`. */
  url(request: { state: string; challenge: string; redirectUri: string }): string
  /** Exchanges a code or a refresh token. Asked once: both end with their use. @param grant fields of the form */
  credential(grant: Readonly<Record<string, string>>): Promise<CredentialAnswer>
  /**
   * Ends one token, or everything that the person granted to the App. `unknown`: the host has no such token, because it ended or because another
   * one replaced it. Never rejects.
   */
  end(what: 'token' | 'grant', access: PersonAccess): Promise<'ended' | 'unknown' | 'unavailable'>
}

/** An answer is some hundred bytes. */
const ANSWER_BYTES = 64 * 1024

const Given = z.object({
  access_token: z.string().min(1).max(4096),
  expires_in: z.number().positive().optional(),
  refresh_token: z.string().min(1).max(4096).optional(),
  refresh_token_expires_in: z.number().positive().optional(),
})
/** GitHub answers refusals with the status 200. */
const Failed = z.object({ error: z.string() })

/** The App is set up wrongly: no person can do anything about it. */
const MISTAKES: ReadonlySet<string> = new Set([
  'incorrect_client_credentials',
  'redirect_uri_mismatch',
  'unsupported_grant_type',
  'unauthorized_client',
  'invalid_client',
])

/** GitHub answers 422 for what it does not take for a token. */
const ENDINGS: ReadonlyMap<number, 'ended' | 'unknown'> = new Map([
  [204, 'ended'],
  [404, 'unknown'],
  [422, 'unknown'],
])

export function createSignIn({ app, url, apiUrl, clock, closing, warn, answerMs = ANSWER_MS }: SignInOptions): SignIn {
  const fetchBounded = boundedFetch(ANSWER_BYTES)
  /** @param path template of the endpoint, for warnings */
  const send = async (target: string, path: string, init: RequestInit): Promise<Response> => {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(answerMs)])
    const answer = await fetchBounded(target, { ...init, signal })
    noteRetirement(warn, `${init.method} ${path}`, Object.fromEntries(answer.headers))
    return answer
  }

  return {
    url({ state, challenge, redirectUri }) {
      const target = new URL(`${url}/login/oauth/authorize`)
      const query = { client_id: app.clientId, redirect_uri: redirectUri, state, code_challenge: challenge }
      target.search = new URLSearchParams({ ...query, code_challenge_method: 'S256' }).toString()
      return target.href
    },

    async credential(grant) {
      const answer = await send(`${url}/login/oauth/access_token`, '/login/oauth/access_token', {
        method: 'POST',
        headers: { accept: 'application/json', 'user-agent': USER_AGENT },
        body: new URLSearchParams({ client_id: app.clientId, client_secret: app.clientSecret, ...grant }),
      })
        .then(readBody)
        .catch(() => null) // its error may hold the request
      if (answer === null) return UNAVAILABLE
      if (answer.status !== 200) return failureOf(answer, clock)
      const failed = Failed.safeParse(answer.body).data
      if (failed === undefined) return readCredential(answer.body, clock.now())
      if (!MISTAKES.has(failed.error)) return { status: 'refused' }
      warn(
        `sign-in ${failed.error}`,
        `GitHub refuses the App with ${failed.error}: correct its client id, its client secret or its callback URL`,
      )
      return UNAVAILABLE
    },

    async end(what, { accessToken }) {
      const client = Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')
      return await send(
        `${apiUrl}/applications/${encodeURIComponent(app.clientId)}/${what}`,
        `/applications/{client_id}/${what}`,
        {
          method: 'DELETE',
          headers: {
            accept: 'application/vnd.github+json',
            authorization: `Basic ${client}`,
            'content-type': 'application/json',
            'user-agent': USER_AGENT,
          },
          body: JSON.stringify({ access_token: accessToken }),
        },
      )
        .then(async answer => {
          await answer.body?.cancel()
          return ENDINGS.get(answer.status) ?? 'unavailable'
        })
        .catch(() => 'unavailable')
    },
  }
}

interface Answered {
  status: number
  headers: Record<string, string>
  /** `null` when it is not JSON. */
  body: unknown
}

async function readBody(answer: Response): Promise<Answered> {
  const text = await answer.text()
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: parseJson(text) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function failureOf({ status, headers, body }: Answered, clock: Clock): CredentialAnswer {
  const refusal = readRefusal(status, headers, body, clock.now())
  return refusal.status === 'rate_limited' || refusal.status === 'unavailable' ? refusal : UNAVAILABLE
}

function readCredential(body: unknown, now: Date): CredentialAnswer {
  const given = Given.safeParse(body).data
  if (given === undefined) return UNAVAILABLE
  // The lifetimes of refresh tokens differ between documents, and an App may give tokens that do not expire: the answer decides.
  const instant = (seconds: number | undefined) =>
    seconds === undefined ? null : new Date(now.getTime() + seconds * 1000).toISOString()
  return {
    status: 'ok',
    value: {
      accessToken: given.access_token,
      expiresAt: instant(given.expires_in),
      refreshToken: given.refresh_token ?? null,
      refreshExpiresAt: given.refresh_token === undefined ? null : instant(given.refresh_token_expires_in),
    },
  }
}
