import type { Worker } from 'node:worker_threads'
import { KeptThread } from './kept-thread.ts'

/** Several byte strings in one message. */
export interface Batch {
  bytes: Uint8Array<ArrayBuffer>
  lengths: readonly number[]
}

/** Compresses the members of one snapshot, byte for byte as `gzipMember` does. */
export interface MemberCompressor {
  /** The caller bounds how many bytes wait. Rejects once the thread failed, or the compressor was closed. */
  compress(bytes: Uint8Array): Promise<Uint8Array>
  /** After the last member, or instead of it. */
  close(): Promise<void>
}

/** Compresses beside this thread. A message for each member would take this thread almost as long as to compress it. Decision 0111. */
export interface GzipThreads {
  /**
   * @param textBytes of the texts to come
   * @returns `null` when a thread would cost more than it saves
   */
  start(textBytes: number): MemberCompressor | null
}

const PROGRAM = new URL('./gzip-thread-main.ts', import.meta.url)
/** Of its heap. zlib and the bytes lie outside of it. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 }
/** A larger batch is sent at once, a smaller one at the end of this turn of the event loop. */
const BATCH_BYTES = 64 * 1024

/** One thread is kept after its snapshot for the next one. @param program of a thread */
export function createGzipThreads(program = PROGRAM): GzipThreads {
  const kept = new KeptThread(program, RESOURCE_LIMITS)
  return {
    start(textBytes) {
      const thread = kept.take(textBytes)
      return thread && new ThreadCompressor(thread, kept.keep)
    },
  }
}

interface Waiting {
  bytes: Uint8Array
  resolve(member: Uint8Array): void
  reject(error: unknown): void
}

class ThreadCompressor implements MemberCompressor {
  readonly #thread: Worker
  readonly #keep: (thread: Worker) => void
  #batch: Waiting[] = []
  #batchBytes = 0
  #flushing: NodeJS.Immediate | null = null
  /** Batches that the thread has, in their order. */
  readonly #sent: Waiting[][] = []
  #failure: { error: unknown } | null = null
  #isClosed = false

  /** @param keep receives the thread after the last member */
  constructor(thread: Worker, keep: (thread: Worker) => void) {
    this.#thread = thread
    this.#keep = keep
    thread.ref()
    thread.on('message', this.#onMessage)
    thread.on('error', this.#onError)
    thread.on('exit', this.#onExit)
  }

  readonly #onMessage = (batch: Batch) => {
    const waiting = this.#sent.shift() ?? []
    for (const [index, member] of splitBatch(batch).entries()) waiting[index]?.resolve(member)
  }
  readonly #onError = (error: unknown) => this.#fail(error)
  readonly #onExit = (code: number) => this.#fail(new Error(`the thread that compresses ended with ${code}`))

  compress(bytes: Uint8Array): Promise<Uint8Array> {
    if (this.#failure) return Promise.reject(this.#failure.error)
    return new Promise((resolve, reject) => {
      this.#batch.push({ bytes, resolve, reject })
      this.#batchBytes += bytes.length
      if (this.#batchBytes >= BATCH_BYTES) this.#flush()
      else this.#flushing ??= setImmediate(() => this.#flush())
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const isWhole = this.#failure === null && this.#sent.length === 0 && this.#batch.length === 0
    this.#fail(new Error('the thread that compresses was closed'))
    this.#thread.off('message', this.#onMessage)
    this.#thread.off('error', this.#onError)
    this.#thread.off('exit', this.#onExit)
    if (isWhole) this.#keep(this.#thread)
    else await this.#thread.terminate()
  }

  #flush(): void {
    if (this.#flushing) clearImmediate(this.#flushing)
    this.#flushing = null
    if (this.#batch.length === 0) return
    const batch = joinBatch(this.#batch.map(({ bytes }) => bytes))
    this.#thread.postMessage(batch, [batch.bytes.buffer])
    this.#sent.push(this.#batch)
    this.#batch = []
    this.#batchBytes = 0
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    if (this.#flushing) clearImmediate(this.#flushing)
    for (const { reject } of [...this.#sent.splice(0).flat(), ...this.#batch.splice(0)]) reject(this.#failure.error)
  }
}

export function joinBatch(parts: readonly Uint8Array[]): Batch {
  const lengths = parts.map(({ length }) => length)
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return { bytes, lengths }
}

export function splitBatch({ bytes, lengths }: Batch): Uint8Array[] {
  let end = 0
  return lengths.map(length => {
    end += length
    return bytes.subarray(end - length, end)
  })
}
