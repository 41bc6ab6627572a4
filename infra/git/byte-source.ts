import type { Awaitable } from '#core/concurrency/awaitable.ts'

/** The stream ended before the requested bytes. */
export class EndOfBytes extends Error {
  constructor() {
    super('the stream ended early')
    this.name = 'EndOfBytes'
  }
}

const LINE_BYTES = 1024

/**
 * Reads lines and byte counts from a stream. Holds one chunk at a time. A chunk has many answers of git, so what lies in it comes without a
 * promise.
 */
export class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>
  #chunk: Buffer = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** The next line of ASCII, without its line break. @throws EndOfBytes, also when the line is longer than 1 KiB */
  line(): Awaitable<string> {
    const end = this.#chunk.indexOf(0x0a)
    return end < 0 ? this.#lineOfChunks() : this.#take(end + 1).toString('latin1', 0, end)
  }

  async #lineOfChunks(): Promise<string> {
    if (this.#chunk.length > LINE_BYTES) throw new EndOfBytes()
    const before = this.#chunk
    await this.#next()
    this.#chunk = Buffer.concat([before, this.#chunk])
    return this.line()
  }

  /** A copy of the next `count` bytes. @throws EndOfBytes */
  bytes(count: number): Awaitable<Uint8Array> {
    return count <= this.#chunk.length ? new Uint8Array(this.#take(count)) : this.#bytesOfChunks(count)
  }

  async #bytesOfChunks(count: number): Promise<Uint8Array> {
    const taken = new Uint8Array(count)
    for (let filled = 0; filled < count; ) {
      if (this.#chunk.length === 0) await this.#next()
      const part = this.#take(Math.min(count - filled, this.#chunk.length))
      taken.set(part, filled)
      filled += part.length
    }
    return taken
  }

  /** The next `count` bytes, without a copy, in the chunks in which they arrived. @throws EndOfBytes */
  async *parts(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#chunk.length === 0) await this.#next()
      const part = this.#take(Math.min(left, this.#chunk.length))
      left -= part.length
      yield part
    }
  }

  /** Drops the next `count` bytes. @throws EndOfBytes */
  skip(count: number): Awaitable<void> {
    const left = count - this.#take(Math.min(count, this.#chunk.length)).length
    return left === 0 ? undefined : this.#skipChunks(left)
  }

  async #skipChunks(count: number): Promise<void> {
    for (let left = count; left > 0; ) {
      await this.#next()
      left -= this.#take(Math.min(left, this.#chunk.length)).length
    }
  }

  #take(count: number): Buffer {
    const part = this.#chunk.subarray(0, count)
    this.#chunk = this.#chunk.subarray(count)
    return part
  }

  async #next(): Promise<void> {
    const { done, value } = await this.#chunks.next()
    if (done) throw new EndOfBytes()
    this.#chunk = value
  }
}
