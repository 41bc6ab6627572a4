import { setImmediate } from 'node:timers/promises'

/** Lets the process look after its timers, the time limit and the lease among them. @throws the reason of `signal` */
export async function nextTurn(signal: AbortSignal | undefined): Promise<void> {
  await setImmediate()
  signal?.throwIfAborted()
}

/** Takes the steps of a long walk, and lets the process look after its timers and the lease between them. */
export async function inTurns<Result>(steps: Generator<void, Result>, signal: AbortSignal | undefined): Promise<Result> {
  let turnEndsAt = performance.now() + TURN_MILLISECONDS
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() < turnEndsAt) continue
    await nextTurn(signal)
    turnEndsAt = performance.now() + TURN_MILLISECONDS
  }
}

const TURN_MILLISECONDS = 50
