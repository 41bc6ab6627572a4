import { Worker } from 'node:worker_threads'
import type { Location, SearchSection } from '#core/snapshot/format.ts'
import type { SearchBuilder } from './builder.ts'
import { type Originals, type SearchInput, withText } from './input.ts'
import type { SectionPlace } from './page-stream.ts'

/** Units of text (UTF-16) in one message: a message for each item would take longer than the work of small items. */
const MESSAGE_UNITS = 64 * 1024
/** In a message to a thread that has nothing to do. */
const FIRST_UNITS = 16 * 1024
/** Units of text that the thread has not worked off. It bounds the memory of texts that are read faster than they are analysed. */
const WAITING_UNITS = 1024 * 1024
/** What an item counts besides its text. */
const ITEM_UNITS = 256

/** Memory of the thread's heap. Postings lie outside of it, and go to a scratch file beyond their own limit. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16 }

/** Of less text, the messages take longer than the work. */
const WARM_TEXT_BYTES = 128 * 1024
/** A new thread loads and compiles its code first, which takes half a second of a processor. */
const COLD_TEXT_BYTES = 2 * 1024 * 1024

const PROGRAM = new URL('./search-thread-main.ts', import.meta.url)

/** Builds search sections from scratch beside this thread, so that a second processor analyses texts while this one reads the next. */
export interface SearchThreads {
  /**
   * Begins a section, whose bytes are those of `createSearchBuilder`. Its promises reject once the thread failed, or with the reason of
   * `signal`.
   *
   * @param textBytes of the texts to come
   * @returns `null` when a thread would cost more than it saves
   */
  start(place: SectionPlace, signal: AbortSignal, textBytes: number): SearchBuilder | null
}

/** One thread is kept after its section for the next one: it does not start anew, and its code stays compiled. */
export function createSearchThreads(): SearchThreads {
  let idle: Worker | null = null
  const keep = (thread: Worker) => {
    idle = thread
    thread.unref()
  }
  const startThread = () => {
    const thread = new Worker(PROGRAM, { resourceLimits: RESOURCE_LIMITS })
    thread.once('exit', () => {
      if (idle === thread) idle = null
    })
    // Without a listener, the error of an idle thread (out of memory, say) would end the process. `exit` follows it.
    thread.on('error', () => {})
    return thread
  }
  return {
    start(place, signal, textBytes) {
      if (textBytes < (idle === null ? COLD_TEXT_BYTES : WARM_TEXT_BYTES)) return null
      const thread = idle ?? startThread()
      idle = null
      return new ThreadBuilder(thread, place, signal, keep)
    },
  }
}

class ThreadBuilder implements SearchBuilder {
  readonly #thread: Worker
  readonly #place: SectionPlace
  readonly #signal: AbortSignal
  readonly #keep: (thread: Worker) => void
  #items: SearchInput[] = []
  #units = 0
  #waitingUnits = 0
  /** Wakes the `finish` or `add` that waits. Called at every message of the thread, and when the thread fails. */
  #onChange: () => void = () => {}
  #failure: { error: unknown } | null = null
  #isClosed = false
  #finished: Extract<FromSearchThread, { type: 'finished' }> | null = null

  /** @param keep receives the thread after its section */
  constructor(thread: Worker, place: SectionPlace, signal: AbortSignal, keep: (thread: Worker) => void) {
    this.#thread = thread
    this.#place = place
    this.#signal = signal
    this.#keep = keep
    thread.ref()
    thread.on('message', this.#onMessage)
    thread.on('error', this.#onError)
    thread.on('exit', this.#onExit)
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  readonly #onMessage = (message: FromSearchThread) => this.#hear(message)
  readonly #onError = (error: unknown) => this.#fail(error)
  readonly #onExit = (code: number) => this.#fail(new Error(`the search thread ended with ${code}`))
  readonly #onAbort = () => this.#fail(this.#signal.reason)

  add(item: SearchInput): void | Promise<void> {
    if (this.#failure) throw this.#failure.error
    const whole = withText(item)
    return whole instanceof Promise ? whole.then(read => this.#add(read)) : this.#add(whole)
  }

  #add(whole: SearchInput): void | Promise<void> {
    this.#items.push(whole)
    this.#units += ITEM_UNITS + (whole.fields.headings?.length ?? 0) + (whole.fields.body?.length ?? 0)
    if (this.#units >= (this.#waitingUnits === 0 ? FIRST_UNITS : MESSAGE_UNITS)) this.#flush()
    return this.#waitingUnits > WAITING_UNITS ? this.#until(() => this.#waitingUnits <= WAITING_UNITS) : undefined
  }

  async finish(originals: Originals = new Map()) {
    this.#flush()
    this.#send({ type: 'finish', originals })
    await this.#until(() => this.#finished !== null)
    return this.#finished?.section ?? null
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const isWhole = this.#finished !== null && this.#failure === null
    this.#fail(new Error('the search thread was closed'))
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#thread.off('message', this.#onMessage)
    this.#thread.off('error', this.#onError)
    this.#thread.off('exit', this.#onExit)
    if (isWhole) this.#keep(this.#thread)
    else await this.#thread.terminate()
  }

  #flush(): void {
    if (this.#items.length === 0) return
    this.#send({ type: 'add', items: this.#items, units: this.#units })
    this.#waitingUnits += this.#units
    this.#items = []
    this.#units = 0
  }

  #send(message: ToSearchThread): void {
    this.#thread.postMessage(message)
  }

  #hear(message: FromSearchThread): void {
    switch (message.type) {
      case 'added':
        this.#waitingUnits -= message.units
        break
      case 'store':
        void this.#store(message.bytes)
        break
      case 'failed':
        this.#fail(message.error)
        break
      case 'finished':
        this.#finished = message
    }
    this.#onChange()
  }

  async #store(bytes: Uint8Array): Promise<void> {
    try {
      this.#send({ type: 'stored', locations: await this.#place.addBytes(bytes) })
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#onChange()
  }

  #until(isDone: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onChange = () => {
        if (isDone()) resolve()
        else if (this.#failure) reject(this.#failure.error)
      }
      this.#onChange()
    })
  }
}

/** Messages between the thread that indexes and the one that builds its search section. */

export type ToSearchThread =
  | { type: 'add'; items: readonly SearchInput[]; units: number }
  | { type: 'finish'; originals: Originals }
  /** The answer to `store`. */
  | { type: 'stored'; locations: Location[] }

export type FromSearchThread =
  /** The items of one `add` are analysed. */
  | { type: 'added'; units: number }
  /** The next bytes of the section; one message at a time. */
  | { type: 'store'; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'finished'; section: SearchSection | null }
  | { type: 'failed'; error: unknown }
