/**
 * Settles as `work` does, or with what `onTimeout` returns or throws once `milliseconds` have passed. The timer never outlives the call.
 * `work` itself goes on; a failure that comes after the timeout is dropped.
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
