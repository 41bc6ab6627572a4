import { setTimeout as sleep } from 'node:timers/promises'

/** Runs a statement of SQLite, and again while another process holds the lock that it needs. @throws the last error */
export type Attempts = <Value>(statement: () => Value) => Promise<Value>

/** Milliseconds before each next attempt; the last one repeats. A writer usually holds the lock for a few milliseconds. */
const PAUSES_MS = [1, 2, 5, 10, 20, 40]

/**
 * A refused statement changed nothing, so it may run again. Between two attempts the event loop does other work.
 *
 * @param patienceMs after this time the error is thrown
 * @param closing aborted when the database closes: a waiting statement fails at once
 */
export function createAttempts(patienceMs: number, closing: AbortSignal): Attempts {
  return async statement => {
    const giveUpAt = performance.now() + patienceMs
    for (let refused = 0; ; refused++) {
      try {
        return statement()
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) throw error
      }
      const pauseMs = PAUSES_MS[Math.min(refused, PAUSES_MS.length - 1)]
      await sleep(pauseMs, undefined, { signal: closing }).catch(() => {
        throw new Error('the store is closed')
      })
    }
  }
}

function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
}
