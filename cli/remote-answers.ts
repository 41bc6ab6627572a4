import { setTimeout as sleep } from 'node:timers/promises'
import { ENDPOINTS } from '#core/contract/endpoints.ts'
import { ErrorAnswer } from '#core/contract/shared.ts'
import { readJson } from '#core/read-json.ts'
import { t } from '#words/t.ts'
import { type Answers, UnansweredError } from './answers.ts'

export interface RemoteService {
  /** Without a trailing slash. */
  baseUrl: string
  /** Sent as a bearer token; `null`: requests are anonymous and read public repositories alone. */
  token: string | null
}

const REQUEST_MS = 30_000
/** Longer answers are not from Mountglass, for example from a proxy. */
const ANSWER_BYTES = 8 * 1024 * 1024
/** Repeats of a request that met a busy service. */
const REPEATS = 4
const PAUSE_MS = { first: 500, max: 15_000 }

/** The answers of a deployment, over REST. A token is never sent to another place: redirects are not followed. */
export function remoteAnswers({ baseUrl, token }: RemoteService): Answers {
  const headers = { accept: 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }) }
  return {
    pauseMs: 1_000,
    atOnce: 4,
    async get(name, address, query) {
      const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
      const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
      const url = `${baseUrl}/api/v1${ENDPOINTS[name].path.replace('/{address}', () => address)}${search}`
      for (let repeats = 0; ; repeats++) {
        const asked = await ask(url, headers)
        if (asked.status === 200) {
          const parsed = ENDPOINTS[name].answer.safeParse(asked.body)
          if (!parsed.success) throw notMountglass(baseUrl, t('problem.otherAnswer'))
          return parsed.data as never
        }
        const error = toError(asked, baseUrl)
        if (!isTransient(asked.status) || repeats === REPEATS) throw error
        await sleep(Math.min(PAUSE_MS.max, asked.retryAfterMs ?? PAUSE_MS.first * 2 ** repeats))
      }
    },
  }
}

interface Asked {
  status: number
  /** `undefined`: not JSON, or too long. */
  body: unknown
  retryAfterMs?: number
}

/** @throws UnansweredError `service.unreachable` */
async function ask(url: string, headers: Record<string, string>): Promise<Asked> {
  try {
    const answer = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(REQUEST_MS) })
    const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN)
    return {
      status: answer.status,
      body: await readJson(answer, ANSWER_BYTES),
      ...(seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {}),
    }
  } catch (cause) {
    const { name, message, cause: inner } = cause as Error
    const reason = (inner as Error | undefined)?.message || message || name
    throw new UnansweredError('service.unreachable', t('problem.unreachable', { origin: new URL(url).origin, reason }), { cause })
  }
}

function isTransient(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504
}

/** A 404 counts as an answer about the address only with a code of the interface. */
function toError({ status, body }: Asked, baseUrl: string): UnansweredError {
  const error = ErrorAnswer.safeParse(body).data?.error
  if (error === undefined) return notMountglass(baseUrl, t('problem.otherStatus', { status }))
  if (error.code === 'request.not_found') return notMountglass(baseUrl, t('problem.otherRoute'))
  return new UnansweredError(error.code, t('problem.asTold', { reason: error }), { directories: error.directories })
}

function notMountglass(baseUrl: string, problem: string): UnansweredError {
  return new UnansweredError('service.not_mountglass', t('problem.notMountglass', { baseUrl, problem }))
}
