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
