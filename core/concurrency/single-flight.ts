/** Calls for a key that is being worked on share that work. A result is not memoized: the next call after it starts anew. */
export type SingleFlight<Value> = (key: string, work: () => Promise<Value>) => Promise<Value>

export function createSingleFlight<Value>(): SingleFlight<Value> {
  const flights = new Map<string, Promise<Value>>()

  return (key, work) => {
    const running = flights.get(key)
    if (running) return running
    // Registered before it can settle, also where `work` throws at once.
    const flight = startLater(work).finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }
}

async function startLater<Value>(work: () => Promise<Value>): Promise<Value> {
  return await work()
}
