import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError, toStoreError } from './store-error.ts'

/** Attempts of one request. */
export const ATTEMPTS = 3
/** Timeout of an answer, without the time for its bytes. */
export const ANSWER_MS = 3_000
/** The slowest transfer that does not time out. */
const BYTES_PER_MS = 256
const BACKOFF_MS = 100

/** Restarts the timeout, prolonged by the time for so many bytes. */
export type Allow = (bytes: number) => void

export interface AttemptOptions {
  /** Bytes that it sends. */
  uploadBytes: number
  answerMs: number
}

/**
 * Runs a request once, with a timeout. The SDK's own timeouts cover neither the body of an answer nor the search for credentials.
 *
 * @param request for messages: `GET pub/0a1/…`
 * @throws StoreError
 */
export async function attempt<Value>(
  request: string,
  { uploadBytes, answerMs }: AttemptOptions,
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
      answerMs + bytes / BYTES_PER_MS,
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

/** Runs an idempotent request up to `ATTEMPTS` times. The SDK's own retries are off: they do not cover a truncated body. */
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

/** Waits before the next attempt: exponential backoff with jitter. */
export async function backOff(attempts: number): Promise<void> {
  await sleep(BACKOFF_MS * 2 ** (attempts - 1) * (0.5 + Math.random() / 2))
}
