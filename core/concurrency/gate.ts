/** As many tasks wait as may. */
export class GateFull extends Error {
  constructor() {
    super('too many wait already')
    this.name = 'GateFull'
  }
}

/** @throws GateFull, or what the task throws */
export type Gate = <Value>(task: () => Promise<Value>) => Promise<Value>

/** Lets at most `limit` tasks run at once; the others wait in order. @param places for those who wait. Default: no bound */
export function createGate(limit: number, places = Number.POSITIVE_INFINITY): Gate {
  let running = 0
  const waiting: (() => void)[] = []
  return async task => {
    if (running === limit) {
      if (waiting.length >= places) throw new GateFull()
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
