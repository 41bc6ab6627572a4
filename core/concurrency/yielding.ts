/** Yields to the event loop, for timers such as those of the time limit and the lease. @throws the reason of `signal` */
export async function yieldToEventLoop(signal: AbortSignal | undefined): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  signal?.throwIfAborted()
}

/** To call between the steps of a long walk: returns a promise to await when the last yield was long ago, else `undefined`. */
export type Yielder = () => Promise<void> | undefined

/** @param everyMs the time between two yields, in milliseconds */
export function createYielder(signal: AbortSignal | undefined, everyMs: number = YIELD_EVERY_MS): Yielder {
  let dueAt = performance.now() + everyMs
  return () => {
    if (performance.now() < dueAt) return undefined
    return yieldToEventLoop(signal).then(() => {
      dueAt = performance.now() + everyMs
    })
  }
}

/** Runs the steps of a long walk, and yields to the event loop between them. @throws the reason of `signal` */
export async function runYielding<Result>(steps: Generator<void, Result>, signal: AbortSignal | undefined): Promise<Result> {
  const yieldIfDue = createYielder(signal)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    const waiting = yieldIfDue()
    if (waiting) await waiting
  }
}

const YIELD_EVERY_MS = 50
