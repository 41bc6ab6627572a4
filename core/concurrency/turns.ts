/** Lets the process look after its timers, the time limit and the lease among them. @throws the reason of `signal` */
export async function nextTurn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  signal?.throwIfAborted()
}

/** Asked between the steps of a long walk: a turn to wait for when the walk has taken its time, else nothing. */
export function createTurns(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let turnEndsAt = performance.now() + TURN_MILLISECONDS
  return () => {
    if (performance.now() < turnEndsAt) return undefined
    return nextTurn(signal).then(() => {
      turnEndsAt = performance.now() + TURN_MILLISECONDS
    })
  }
}

/** Takes the steps of a long walk, and lets the process look after its timers and the lease between them. */
export async function inTurns<Result>(steps: Generator<void, Result>, signal: AbortSignal | undefined): Promise<Result> {
  const turn = createTurns(signal)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const waiting = turn()
    if (waiting) await waiting
  }
}

const TURN_MILLISECONDS = 50
