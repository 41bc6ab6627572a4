/** Concurrent calls for a key share one execution of `work`. Results are not memoized: a call after the end starts again. */
export interface SingleFlight<Value> {
  /** @param work begins at once; receives a function that tells whether `forget` was called for the key since then */
  run(key: string, work: (isForgotten: () => boolean) => Promise<Value>): Promise<Value>
  /** Detaches the running work: its callers get its result, and the next call starts anew. */
  forget(key: string): void
}

export function createSingleFlight<Value>(): SingleFlight<Value> {
  const flights = new Map<string, { result: Promise<Value> | null }>()

  return {
    run(key, work) {
      const running = flights.get(key)?.result
      if (running) return running
      const flight: { result: Promise<Value> | null } = { result: null }
      flights.set(key, flight)
      flight.result = runAsync(() => work(() => flights.get(key) !== flight)).finally(() => {
        if (flights.get(key) === flight) flights.delete(key)
      })
      return flight.result
    },
    forget(key) {
      flights.delete(key)
    },
  }
}

/** Turns a synchronous throw into a rejection, so that it leaves no flight behind. */
async function runAsync<Value>(work: () => Promise<Value>): Promise<Value> {
  return await work()
}
