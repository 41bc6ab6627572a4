import { type ObjectBatch, openObjectBatch } from './object-batch.ts'
import type { GitOptions } from './process.ts'
import type { GitView } from './view.ts'

/**
 * Lends git processes that read objects, each to one user at a time, and keeps them for a moment: to start one takes this process twenty
 * times as long as to read a small file.
 */
export interface ObjectReaders {
  /**
   * What `use` answers; `null` when there is no view.
   *
   * @throws what `use` or `openView` throws, or the reason of the signal, which kills the process
   */
  use<Value>(asked: AskedReader, use: (batch: ObjectBatch) => Promise<Value>): Promise<Value | null>
  close(): Promise<void>
}

export interface AskedReader {
  /** Identifies the repository. */
  key: string
  /** Opens the repository. Every view is removed once. */
  openView: () => Promise<GitView | null>
  signal: AbortSignal
}

const IDLE_MS = 5_000
/** All repositories together. */
const IDLE_READERS = 8
/** A view may be older than what was pushed since. */
const AGE_MS = 60_000

/** @param options of the git processes */
export function createObjectReaders(options: Pick<GitOptions, 'resources' | 'config'>): ObjectReaders {
  return new LentReaders(options)
}

interface Reader {
  key: string
  view: GitView
  batch: ObjectBatch
  /** Kills git. */
  ending: AbortController
  openedAtMs: number
  /** Ends the reader while it is idle. */
  timer: NodeJS.Timeout | undefined
}

class LentReaders implements ObjectReaders {
  readonly #options: Pick<GitOptions, 'resources' | 'config'>
  /** The one that has been idle longest comes first. */
  readonly #idle = new Set<Reader>()
  #isClosed = false

  constructor(options: Pick<GitOptions, 'resources' | 'config'>) {
    this.#options = options
  }

  async use<Value>(asked: AskedReader, use: (batch: ObjectBatch) => Promise<Value>): Promise<Value | null> {
    const idle = this.#takeIdle(asked.key)
    if (idle !== null) {
      try {
        return await this.#lend(idle, asked.signal, use)
      } catch {
        // The view may be older than the object, and git may have ended meanwhile.
        asked.signal.throwIfAborted()
      }
    }
    const reader = await this.#open(asked)
    return reader && (await this.#lend(reader, asked.signal, use))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#idle].map(reader => this.#end(reader)))
  }

  async #lend<Value>(reader: Reader, signal: AbortSignal, use: (batch: ObjectBatch) => Promise<Value>): Promise<Value> {
    const kill = () => reader.ending.abort(signal.reason)
    signal.addEventListener('abort', kill)
    if (signal.aborted) kill()
    try {
      const value = await use(reader.batch)
      await this.#keep(reader)
      return value
    } catch (error) {
      await this.#end(reader)
      throw error
    } finally {
      signal.removeEventListener('abort', kill)
    }
  }

  async #open({ key, openView }: AskedReader): Promise<Reader | null> {
    const view = await openView()
    if (view === null) return null
    const ending = new AbortController()
    const batch = openObjectBatch({ ...this.#options, gitDir: view.gitDir, signal: ending.signal })
    return { key, view, batch, ending, openedAtMs: performance.now(), timer: undefined }
  }

  #takeIdle(key: string): Reader | null {
    for (const reader of this.#idle) {
      if (reader.key !== key) continue
      this.#idle.delete(reader)
      clearTimeout(reader.timer)
      return reader
    }
    return null
  }

  async #keep(reader: Reader): Promise<void> {
    const isUsable = !this.#isClosed && !reader.ending.signal.aborted && performance.now() - reader.openedAtMs < AGE_MS
    if (!isUsable) return await this.#end(reader)
    this.#idle.add(reader)
    reader.timer = setTimeout(() => void this.#end(reader), IDLE_MS).unref()
    const [oldest] = this.#idle
    if (this.#idle.size > IDLE_READERS && oldest) await this.#end(oldest)
  }

  async #end(reader: Reader): Promise<void> {
    this.#idle.delete(reader)
    clearTimeout(reader.timer)
    await reader.batch.close()
    await reader.view.remove()
  }
}
