import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError, toStoreError } from './store-error.ts'

/** How often something is tried before it has failed. */
export const ATTEMPTS = 3
/** What an answer may take to begin, and a body beyond its length. */
const ANSWER_MS = 3_000
/** The slowest line that is waited for. */
const BYTES_PER_MS = 256
const BACKOFF_MS = 100

/** Prolongs an attempt by the time that so many bytes take. */
export type Allow = (bytes: number) => void

/**
 * Asks once, for a bounded time. The SDK's own timeouts end with the head of an answer, and do not bound its search for credentials.
 *
 * @param request for messages
 * @throws StoreError
 */
export async function attempt<Value>(
  request: string,
  uploadBytes: number,
  ask: (signal: AbortSignal, allow: Allow) => Promise<Value>,
): Promise<Value> {
  const stop = new AbortController()
  const expired = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const allow = (bytes: number) => {
    clearTimeout(timer)
    timer = setTimeout(
      () => {
        expired.reject(new StoreError(request, { status: null, code: 'timeout', isTransient: true }))
        stop.abort()
      },
      ANSWER_MS + bytes / BYTES_PER_MS,
    )
  }
  allow(uploadBytes)
  try {
    return await Promise.race([ask(stop.signal, allow), expired.promise])
  } catch (error) {
    throw toStoreError(request, error)
  } finally {
    clearTimeout(timer)
  }
}

/** Asks up to `ATTEMPTS` times: for what may be done twice. The SDK repeats nothing, since it would not repeat a body that broke off. */
export async function repeat<Value>(ask: () => Promise<Value>): Promise<Value> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof StoreError && error.isTransient) || attempts === ATTEMPTS) throw error
      await backOff(attempts)
    }
  }
}

/** Waits longer after each attempt, and not as long as everyone else. */
export async function backOff(attempts: number): Promise<void> {
  await sleep(BACKOFF_MS * 2 ** (attempts - 1) * (0.5 + Math.random() / 2))
}
