/** Concurrent calls for a key share one execution of `work`. Results are not memoized: a call after the end starts again. */
export type SingleFlight<Value> = (key: string, work: () => Promise<Value>) => Promise<Value>

export function createSingleFlight<Value>(): SingleFlight<Value> {
  const flights = new Map<string, Promise<Value>>()

  return (key, work) => {
    const running = flights.get(key)
    if (running) return running
    // Async, so that the flight is registered before it settles, even if `work` throws synchronously.
    const flight = startLater(work).finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }
}

async function startLater<Value>(work: () => Promise<Value>): Promise<Value> {
  return await work()
}
