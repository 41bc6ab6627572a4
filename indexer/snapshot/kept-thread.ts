import { type ResourceLimits, Worker } from 'node:worker_threads'

/** Of less text, the messages take longer than the work. */
const WARM_TEXT_BYTES = 128 * 1024
/** A new thread loads and compiles its code first, which takes half a second of a processor. Decision 0107. */
const COLD_TEXT_BYTES = 2 * 1024 * 1024

/** One thread is kept after its work for the next one: it does not start anew, and its code stays compiled. */
export class KeptThread {
  readonly #program: URL
  readonly #resourceLimits: ResourceLimits
  #idle: Worker | null = null

  constructor(program: URL, resourceLimits: ResourceLimits) {
    this.#program = program
    this.#resourceLimits = resourceLimits
  }

  /** Lends a thread, to be given to `keep` after the work. @returns `null` when a thread would cost more than it saves */
  take(textBytes: number): Worker | null {
    if (textBytes < (this.#idle === null ? COLD_TEXT_BYTES : WARM_TEXT_BYTES)) return null
    const thread = this.#idle ?? this.#start()
    this.#idle = null
    return thread
  }

  readonly keep = (thread: Worker): void => {
    this.#idle = thread
    thread.unref()
  }

  #start(): Worker {
    const thread = new Worker(this.#program, { resourceLimits: this.#resourceLimits })
    thread.once('exit', () => {
      if (this.#idle === thread) this.#idle = null
    })
    // Without a listener, the error of an idle thread (out of memory, say) would end the process. `exit` follows it.
    thread.on('error', () => {})
    return thread
  }
}
