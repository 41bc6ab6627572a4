import { createFairGate } from './fair-gate.ts'

/** Runs the task once fewer others run than the limit. @throws GateFull, or what the task throws */
export type Limit = <Value>(task: () => Promise<Value>) => Promise<Value>

/** A semaphore: at most `atOnce` tasks run at once, the others wait in order. @param maxWaiting tasks that may wait. Default: no limit */
export function createLimit(atOnce: number, maxWaiting = Number.POSITIVE_INFINITY): Limit {
  const gate = createFairGate({ limit: atOnce, limitEach: atOnce, maxWaitingEach: maxWaiting })
  return task => gate('', task)
}
