import { hash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { RenderedText, TextToRender } from './render-text.ts'

/** Renders texts of repositories outside the event loop. */
export interface TextRenderer {
  /** Never rejects. `unavailable`: not within `patienceMs`, or the renderer failed; a later page may succeed. */
  render(text: TextToRender): Promise<RenderedText | { status: 'unavailable' }>
  /** Ends the thread. */
  close(): Promise<void>
}

export interface RendererOptions {
  /** Time for one text. The thread is ended after it, and the text counts as too large. */
  limitMs?: number
  /** How long a page waits for a text, its turn included. */
  patienceMs?: number
  /** Memory of the kept results. */
  cacheBytes?: number
  /** Called with the outcome of each `render`. */
  onOutcome?: ((outcome: RenderOutcome) => void) | undefined
  /** Called when the renderer itself fails. */
  onFailure?: ((error: unknown) => void) | undefined
  /** The program of the thread. */
  program?: URL
}

/** `cached`: kept from an earlier page. `slow`: too large by its time or memory. `busy`: not within the patience. */
export type RenderOutcome = 'rendered' | 'cached' | 'too_large' | 'slow' | 'busy' | 'failed'

const PROGRAM = new URL('./render-worker.ts', import.meta.url)
const LIMIT_MS = 2_000
const PATIENCE_MS = 1_000
/** Characters of all texts that wait for their turn: some 25 of the longest pages. Each text counts this many more. */
const WAITING_CHARACTERS = 1_000_000
const TASK_CHARACTERS = 200
const CACHE_BYTES = 16 * 1024 * 1024
/** Memory of the thread. A text of a page takes a few megabytes. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }
/** Memory of a kept result beside its HTML. */
const ENTRY_BYTES = 256
/** A text that was too slow is tried again after this time: the machine may have been busy. */
const SLOW_MS = 10 * 60 * 1000

/**
 * A thread that renders one text at a time, since markup of 40,000 characters can take half a second. It starts with the first text and is
 * replaced when a text exceeds its time or memory. Results are kept by the hash of the text and its place.
 */
export function createTextRenderer(options: RendererOptions = {}): TextRenderer {
  return new ThreadRenderer(options)
}

interface Ended {
  outcome: RenderOutcome
  result: Awaited<ReturnType<TextRenderer['render']>>
}

const BUSY: Ended = { outcome: 'busy', result: { status: 'unavailable' } }
const SLOW: Ended = { outcome: 'slow', result: { status: 'too_large' } }
const FAILED: Ended = { outcome: 'failed', result: { status: 'unavailable' } }

interface Task {
  key: string
  text: TextToRender
  end(ended: Ended): void
}

class ThreadRenderer implements TextRenderer {
  readonly #options: RendererOptions
  readonly #kept: LRUCache<string, RenderedText>
  readonly #flights = new Map<string, Promise<Ended>>()
  readonly #waiting: Task[] = []
  #waitingCharacters = 0
  #running: { task: Task; timer?: NodeJS.Timeout } | null = null
  #worker: Worker | null = null
  /** The thread has loaded its program, which is not the time of a text. */
  #isReady = false
  #isClosed = false

  constructor(options: RendererOptions) {
    this.#options = options
    const sizeCalculation = (kept: RenderedText) => ENTRY_BYTES + ('html' in kept ? 2 * kept.html.length : 0)
    this.#kept = new LRUCache({ maxSize: options.cacheBytes ?? CACHE_BYTES, sizeCalculation })
  }

  async render(text: TextToRender): ReturnType<TextRenderer['render']> {
    const key = hash('sha256', JSON.stringify(text))
    const kept = this.#kept.get(key)
    const flight = kept ? null : (this.#flights.get(key) ?? this.#enqueue(key, text))
    const { outcome, result } = kept
      ? { outcome: 'cached' as const, result: kept }
      : await within(this.#options.patienceMs ?? PATIENCE_MS, flight ?? Promise.resolve(BUSY))
    this.#options.onOutcome?.(outcome)
    return result
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const task of this.#waiting.splice(0)) task.end(BUSY)
    this.#finish(BUSY)
    await this.#worker?.terminate()
  }

  /** `null` when too much waits already. */
  #enqueue(key: string, text: TextToRender): Promise<Ended> | null {
    if (this.#isClosed || this.#waitingCharacters >= WAITING_CHARACTERS) return null
    const characters = TASK_CHARACTERS + text.content.length
    this.#waitingCharacters += characters
    const { promise, resolve } = Promise.withResolvers<Ended>()
    this.#flights.set(key, promise)
    const end = (ended: Ended) => {
      this.#waitingCharacters -= characters
      this.#flights.delete(key)
      resolve(ended)
    }
    this.#waiting.push({ key, text, end })
    this.#startNext()
    return promise
  }

  #startNext(): void {
    const task = this.#running === null ? this.#waiting.shift() : undefined
    if (task === undefined) return
    this.#running = { task }
    const worker = this.#worker ?? this.#startWorker()
    if (this.#isReady) this.#begin(worker)
  }

  #begin(worker: Worker): void {
    if (this.#running === null) return
    this.#running.timer = setTimeout(() => this.#replace(worker, SLOW), this.#options.limitMs ?? LIMIT_MS)
    worker.postMessage(this.#running.task.text)
  }

  #startWorker(): Worker {
    const worker = new Worker(this.#options.program ?? PROGRAM, { resourceLimits: RESOURCE_LIMITS })
    // Not a reason for the process to stay: the pages that wait have sockets.
    worker.unref()
    worker.on('message', (message: FromRenderer) => {
      if (worker !== this.#worker) return
      if (message !== 'ready') return this.#finish({ outcome: message.status, result: message })
      this.#isReady = true
      this.#begin(worker)
    })
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (worker !== this.#worker) return
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      if (!isMemory) this.#options.onFailure?.(error)
      this.#replace(worker, isMemory ? SLOW : FAILED)
    })
    this.#worker = worker
    return worker
  }

  /** Ends the thread, and the running text with it. The next text starts another one. */
  #replace(worker: Worker, ended: Ended): void {
    this.#worker = null
    this.#isReady = false
    void worker.terminate()
    this.#finish(ended)
  }

  #finish(ended: Ended): void {
    if (this.#running === null) return
    const { task, timer } = this.#running
    clearTimeout(timer)
    this.#running = null
    const { result, outcome } = ended
    if (result.status !== 'unavailable') this.#kept.set(task.key, result, outcome === 'slow' ? { ttl: SLOW_MS } : {})
    task.end(ended)
    this.#startNext()
  }
}

/** Messages of the thread: `ready` once, then a result for each text. */
export type FromRenderer = 'ready' | RenderedText

/** The flight goes on after the patience: its result is kept for the next page. */
async function within(milliseconds: number, flight: Promise<Ended>): Promise<Ended> {
  const { promise: late, resolve } = Promise.withResolvers<Ended>()
  const timer = setTimeout(() => resolve(BUSY), milliseconds)
  try {
    return await Promise.race([flight, late])
  } finally {
    clearTimeout(timer)
  }
}
