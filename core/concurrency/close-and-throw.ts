import { withTimeout } from './timeout.ts'

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
