/** Yields to the event loop, for timers such as those of the time limit and the lease. @throws the reason of `signal` */
export async function nextTurn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  signal?.throwIfAborted()
}

/** To call between the steps of a long walk: returns a turn to await when the last one was long ago, else `undefined`. */
export type Turn = () => Promise<void> | undefined

/** @param turnMs the time between two turns, in milliseconds */
export function createTurns(signal: AbortSignal | undefined, turnMs: number = TURN_MS): Turn {
  let turnEndsAt = performance.now() + turnMs
  return () => {
    if (performance.now() < turnEndsAt) return undefined
    return nextTurn(signal).then(() => {
      turnEndsAt = performance.now() + turnMs
    })
  }
}

/** Runs the steps of a long walk, and yields to the event loop between them. @throws the reason of `signal` */
export async function inTurns<Result>(steps: Generator<void, Result>, signal: AbortSignal | undefined): Promise<Result> {
  const turn = createTurns(signal)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const waiting = turn()
    if (waiting) await waiting
  }
}

const TURN_MS = 50
