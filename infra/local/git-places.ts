import { createGate, type Gate } from '#core/concurrency/gate.ts'

/** Concurrent git processes of a few milliseconds each. */
const PLACES = 8
/** One repository takes this many of them, so that the others stay free for the rest. */
const PLACES_OF_REPOSITORY = 3

/** Bounds the git processes that answer requests, in all and for each repository. */
export class GitPlaces {
  readonly #shared: Gate = createGate(PLACES)
  /** By identity, while tasks of the repository wait or run. */
  readonly #own = new Map<string, { gate: Gate; tasks: number }>()

  /** Runs the task once there is a place. @throws what the task throws */
  async run<Value>(repository: string, task: () => Promise<Value>): Promise<Value> {
    const own = this.#own.get(repository) ?? { gate: createGate(PLACES_OF_REPOSITORY), tasks: 0 }
    this.#own.set(repository, own)
    own.tasks++
    try {
      return await own.gate(() => this.#shared(task))
    } finally {
      if (--own.tasks === 0) this.#own.delete(repository)
    }
  }
}
