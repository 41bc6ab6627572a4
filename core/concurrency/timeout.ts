/**
 * Settles as `work` does, or as `onTimeout` does once `milliseconds` have passed. Clears its timer in either case.
 * `work` is not cancelled; a failure after the timeout is ignored.
 */
export async function withTimeout<Value, Late>(
  work: Promise<Value>,
  milliseconds: number,
  onTimeout: () => Late,
): Promise<Value | Late> {
  const { promise: timeout, resolve } = Promise.withResolvers<typeof TIMEOUT>()
  const timer = setTimeout(() => resolve(TIMEOUT), milliseconds)
  try {
    const outcome = await Promise.race([work, timeout])
    return outcome === TIMEOUT ? onTimeout() : outcome
  } finally {
    clearTimeout(timer)
  }
}

const TIMEOUT = Symbol('timeout')

const CLOSE_MS = 5_000

/**
 * Closes what was opened before `error` ended a start, and throws `error`. A `close` that fails or takes longer than `closeMs` does not replace
 * `error`, which is what the operator has to correct.
 */
export async function closeAndThrow(error: unknown, close: () => Promise<unknown>, closeMs = CLOSE_MS): Promise<never> {
  const closed = (async () => close())()
  await withTimeout(closed, closeMs, () => {}).catch(() => {})
  throw error
}
