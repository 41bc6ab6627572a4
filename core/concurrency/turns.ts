/** Yields to the event loop, for timers such as those of the time limit and the lease. @throws the reason of `signal` */
export async function nextTurn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  signal?.throwIfAborted()
}

/** Returns a function to call between the steps of a long walk: it returns a turn to await every `TURN_MS`, else `undefined`. */
export function createTurns(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let turnEndsAt = performance.now() + TURN_MS
  return () => {
    if (performance.now() < turnEndsAt) return undefined
    return nextTurn(signal).then(() => {
      turnEndsAt = performance.now() + TURN_MS
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
