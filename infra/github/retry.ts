import { setTimeout as sleep } from 'node:timers/promises'
import type { HostFailure } from './answers.ts'

export interface RetryOptions<Answer> {
  ask(): Promise<Answer>
  /** The failure that passes by itself; `null`: to ask again is of no use. */
  transientFailure(answer: Answer): HostFailure | null
  times: RetryTimes
  signal: AbortSignal
}

/** How often and how long a job retries while GitHub fails. */
export interface RetryTimes {
  /** After this time nothing is asked again. */
  withinMs: number
  /** Mean delays before further questions. Also the number of answers that may fail. */
  delaysMs: readonly number[]
}

/** A job that fails is repeated half a minute later at the earliest. */
export const READ_RETRIES: RetryTimes = { withinMs: 10_000, delaysMs: [200, 600, 1_500] }

/**
 * Asks for a job, and again when GitHub fails in a way that passes: jobs ask several times, and one failed answer would fail the whole job.
 * The waits that GitHub asks for are kept, up to `withinMs`. Visitors are answered at once instead.
 */
export async function retry<Answer>({
  ask,
  transientFailure,
  times: { withinMs, delaysMs },
  signal,
}: RetryOptions<Answer>): Promise<Answer> {
  const giveUpAt = performance.now() + withinMs
  for (const delayMs of delaysMs) {
    const answer = await ask()
    const failure = signal.aborted ? null : transientFailure(answer)
    if (failure === null) return answer
    // Not all at once when a pause ends.
    const waitMs = (failure.retryAfterSeconds ?? 0) * 1000 + delayMs * (0.5 + Math.random())
    if (performance.now() + waitMs > giveUpAt) return answer
    await sleep(waitMs, undefined, { signal })
  }
  return ask()
}
