import { setTimeout as sleep } from 'node:timers/promises'
import { Mount, type Overview } from '#core/contract/mount.ts'
import { ErrorAnswer } from '#core/contract/shared.ts'
import { readJson } from '#core/read-json.ts'

/** The index will not be ready, or is not ready in time. The message is for the author of the workflow. */
export class PrewarmError extends Error {}

export type ReadyMount = Mount & { index: Overview }

export interface PrewarmOptions {
  /** Origin of the deployment. */
  service: string
  /** The canonical address, with a leading slash. */
  address: string
  timeoutSeconds: number
  /** Called with the reason for waiting whenever it changes. */
  onWaiting(reason: string): void
}

const PAUSE_MS = { first: 500, max: 5_000 }
const REQUEST_MS = 30_000
const ANSWER_BYTES = 4 * 1024 * 1024
/** A deployment may not know a new commit while it caches older answers of the host. */
const UNKNOWN_MS = 90_000

type Asked =
  | { status: 'ready'; mount: ReadyMount }
  | { status: 'waiting'; reason: string; retryAfterMs?: number }
  /** Final after `UNKNOWN_MS`. */
  | { status: 'unknown'; reason: string }
  | { status: 'refused'; reason: string }

/**
 * Requests the address until its index is ready. The first request queues the index job and needs no permission.
 *
 * @throws PrewarmError when the deployment refuses, or after `timeoutSeconds`
 */
export async function prewarm({ service, address, timeoutSeconds, onWaiting }: PrewarmOptions): Promise<ReadyMount> {
  const startedAt = performance.now()
  const elapsedMs = () => performance.now() - startedAt
  const url = `${service}/api/v1/mounts${address}`
  let lastReason = ''
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(PAUSE_MS.max, pauseMs * 2)) {
    const asked = await ask(url, Math.min(REQUEST_MS, timeoutSeconds * 1000))
    if (asked.status === 'ready') return asked.mount
    const isFinal = asked.status === 'refused' || (asked.status === 'unknown' && elapsedMs() > UNKNOWN_MS)
    if (isFinal) throw new PrewarmError(asked.reason)
    const waitMs = Math.max(pauseMs, (asked.status === 'waiting' && asked.retryAfterMs) || 0)
    if (elapsedMs() + waitMs > timeoutSeconds * 1000)
      throw new PrewarmError(`the index is not ready after ${timeoutSeconds} seconds: ${asked.reason}`)
    if (asked.reason !== lastReason) onWaiting(asked.reason)
    lastReason = asked.reason
    await sleep(waitMs)
  }
}

async function ask(url: string, timeoutMs: number): Promise<Asked> {
  let answer: Response
  let body: unknown
  try {
    answer = await fetch(url, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(timeoutMs) })
    body = await readJson(answer, ANSWER_BYTES)
  } catch (error) {
    const { name, message, cause } = error as Error
    return {
      status: 'waiting',
      reason: `cannot reach the deployment: ${(cause as Error | undefined)?.message ?? (message || name)}`,
    }
  }
  return answer.status === 200 ? readMount(body) : readRefusal(answer, body)
}

function readMount(body: unknown): Asked {
  const parsed = Mount.safeParse(body)
  if (!parsed.success)
    return { status: 'refused', reason: 'the answer is not from a Mountglass deployment: check the input service' }
  const { index } = parsed.data
  if (index.status === 'ready') return { status: 'ready', mount: { ...parsed.data, index } }
  if (index.status === 'indexing') return { status: 'waiting', reason: 'the commit is being indexed' }
  return {
    status: 'refused',
    reason: `indexing failed with ${index.errorCode}; the deployment retries after ${index.retryAt}`,
  }
}

function readRefusal(answer: Response, body: unknown): Asked {
  const error = ErrorAnswer.safeParse(body).data?.error
  const reason = error ? `${error.code}: ${error.message}` : `the deployment answered with status ${answer.status}`
  if (error?.code === 'mount.ref_not_found') return { status: 'unknown', reason }
  const isTransient = answer.status >= 500 || answer.status === 429
  if (!isTransient) return { status: 'refused', reason }
  const seconds = Number(answer.headers.get('retry-after'))
  return { status: 'waiting', reason, ...(seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}) }
}
