/** The maximum number of tasks waits already. */
export class GateFull extends Error {
  constructor() {
    super('too many tasks wait')
    this.name = 'GateFull'
  }
}

export interface FairGateLimits {
  /** Tasks at once. */
  limit: number
  /** Tasks of one key at once. */
  limitEach: number
  /** Tasks of one key that may wait. A further one is refused. */
  maxWaitingEach: number
  /** Tasks of all keys that may wait. Beyond it, the newest task of the key with the most waiting tasks is refused. Default: no limit */
  maxWaiting?: number
}

/** Tasks of one key run one after another, however many there are. */
export const ONE_BY_ONE: FairGateLimits = {
  limit: Number.POSITIVE_INFINITY,
  limitEach: 1,
  maxWaitingEach: Number.POSITIVE_INFINITY,
}

/**
 * Runs the task once the gate admits it. A task that waits when `signal` is aborted leaves its line.
 *
 * @throws GateFull, the reason of `signal`, or what the task throws
 */
export type FairGate = <Value>(key: string, task: () => Promise<Value>, signal?: AbortSignal) => Promise<Value>

/**
 * A semaphore whose places are given to the keys in turn, so that a key with many tasks delays the others by one task, not by all of its own.
 * Tasks of one key run in the order of their calls.
 */
export function createFairGate(limits: FairGateLimits): FairGate {
  const gate = new Turns(limits)
  return (key, task, signal) => gate.run(key, task, signal)
}

interface Waiting {
  start(): void
  refuse(reason: unknown): void
}

/** The tasks of one key. */
interface Line {
  running: number
  /** The oldest comes first. */
  waiting: Waiting[]
}

class Turns {
  readonly #limits: FairGateLimits
  /** Keys with running or waiting tasks, those whose turn comes first before the others. */
  readonly #lines = new Map<string, Line>()
  #running = 0
  #waiting = 0

  constructor(limits: FairGateLimits) {
    this.#limits = limits
  }

  async run<Value>(key: string, task: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    signal?.throwIfAborted()
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] }
    if (this.#isFree(line)) this.#enter(key, line)
    else await this.#wait(key, line, signal)
    try {
      return await task()
    } finally {
      this.#leave(key, line)
    }
  }

  /** A free place means that no other task could take it, so the caller overtakes none. */
  #isFree(line: Line): boolean {
    return this.#running < this.#limits.limit && line.running < this.#limits.limitEach
  }

  #enter(key: string, line: Line): void {
    this.#running++
    line.running++
    this.#lines.delete(key)
    this.#lines.set(key, line)
  }

  async #wait(key: string, line: Line, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaitingEach, maxWaiting = Number.POSITIVE_INFINITY } = this.#limits
    if (line.waiting.length >= maxWaitingEach) throw new GateFull()
    if (this.#waiting >= maxWaiting) this.#makeRoom(line)
    this.#lines.set(key, line)
    this.#waiting++
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { start: resolve, refuse: reject }
    line.waiting.push(waiting)
    const withdraw = () => this.#withdraw(key, line, waiting, signal?.reason)
    signal?.addEventListener('abort', withdraw)
    try {
      await promise
    } finally {
      signal?.removeEventListener('abort', withdraw)
    }
  }

  /** Does nothing for a task that was admitted or refused meanwhile. */
  #withdraw(key: string, line: Line, waiting: Waiting, reason: unknown): void {
    const index = line.waiting.indexOf(waiting)
    if (index < 0) return
    line.waiting.splice(index, 1)
    this.#waiting--
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(key)
    waiting.refuse(reason)
  }

  /** Refuses a task of the longest line. @throws GateFull when that is the line of the caller */
  #makeRoom(own: Line): void {
    const lengthOf = ({ waiting }: Line) => waiting.length
    const [longest = own] = [...this.#lines.values()].sort((left, right) => lengthOf(right) - lengthOf(left))
    if (lengthOf(longest) <= lengthOf(own) + 1) throw new GateFull()
    this.#waiting--
    longest.waiting.pop()?.refuse(new GateFull())
  }

  #leave(key: string, line: Line): void {
    this.#running--
    line.running--
    // Behind the keys that came while the task ran.
    this.#lines.delete(key)
    if (line.running > 0 || line.waiting.length > 0) this.#lines.set(key, line)
    for (const [next, candidate] of this.#lines) {
      if (candidate.waiting.length === 0 || !this.#isFree(candidate)) continue
      this.#waiting--
      this.#enter(next, candidate)
      candidate.waiting.shift()?.start()
      return
    }
  }
}

/** Runs the task once fewer others run than the limit. @throws GateFull, or what the task throws */
export type Limit = <Value>(task: () => Promise<Value>) => Promise<Value>

/** A semaphore: at most `atOnce` tasks run at once, the others wait in order. @param maxWaiting tasks that may wait. Default: no limit */
export function createLimit(atOnce: number, maxWaiting = Number.POSITIVE_INFINITY): Limit {
  const gate = createFairGate({ limit: atOnce, limitEach: atOnce, maxWaitingEach: maxWaiting })
  return task => gate('', task)
}

const turns = createFairGate({ ...ONE_BY_ONE, limit: 1 })

/**
 * Resolves in a turn of the event loop that no other caller gets. Keys take turns; the callers of one key are served in order. For the steps of
 * work that comes in bursts: an answer takes some turns, and in each of them it waits for one such step, not for those of the whole burst.
 *
 * The number of callers that wait is not bounded here. Decision 0024.
 *
 * @param key identifies the client, or the kind of work
 * @throws the reason of `signal`
 */
export async function nextSlot(key: string, signal?: AbortSignal): Promise<void> {
  await turns(key, () => new Promise<void>(resolve => setImmediate(resolve)), signal)
  signal?.throwIfAborted()
}
