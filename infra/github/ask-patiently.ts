import { setTimeout as sleep } from 'node:timers/promises'
import type { Trouble } from './answers.ts'

export interface PatientQuestion<Answer> {
  ask(): Promise<Answer>
  /** The trouble that passes by itself; `null`: to ask again is of no use. */
  passingTrouble(answer: Answer): Trouble | null
  patience: ReadPatience
  signal: AbortSignal
}

/** How long a job goes on asking while GitHub fails. */
export interface ReadPatience {
  /** After this time nothing is asked again. */
  withinMs: number
  /** Mean delays before further questions. Also the number of answers that may fail. */
  delaysMs: readonly number[]
}

/** A job that fails is repeated half a minute later at the earliest. */
export const READ_PATIENCE: ReadPatience = { withinMs: 10_000, delaysMs: [200, 600, 1_500] }

/**
 * Asks for a job, and again when GitHub fails in a way that passes: jobs ask several times, and one failed answer would fail the whole job.
 * The waits that GitHub asks for are kept, up to the patience. Visitors are answered at once instead.
 */
export async function askPatiently<Answer>({
  ask,
  passingTrouble,
  patience: { withinMs, delaysMs },
  signal,
}: PatientQuestion<Answer>): Promise<Answer> {
  const giveUpAt = performance.now() + withinMs
  for (const delayMs of delaysMs) {
    const answer = await ask()
    const trouble = signal.aborted ? null : passingTrouble(answer)
    if (trouble === null) return answer
    // Not all at once when a pause ends.
    const waitMs = (trouble.retryAfterSeconds ?? 0) * 1000 + delayMs * (0.5 + Math.random())
    if (performance.now() + waitMs > giveUpAt) return answer
    await sleep(waitMs, undefined, { signal })
  }
  return ask()
}
