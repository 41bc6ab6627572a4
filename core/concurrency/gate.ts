/** The maximum number of tasks waits already. */
export class GateFull extends Error {
  constructor() {
    super('too many tasks wait')
    this.name = 'GateFull'
  }
}

/** Runs the task once the gate admits it. @throws GateFull, or what the task throws */
export type Gate = <Value>(task: () => Promise<Value>) => Promise<Value>

/** A semaphore: at most `limit` tasks run at once, the others wait in order. @param maxWaiting tasks that may wait. Default: no limit */
export function createGate(limit: number, maxWaiting = Number.POSITIVE_INFINITY): Gate {
  let running = 0
  const waiting: (() => void)[] = []
  return async task => {
    if (running === limit) {
      if (waiting.length >= maxWaiting) throw new GateFull()
      await new Promise<void>(resolve => waiting.push(resolve))
    } else running++
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
