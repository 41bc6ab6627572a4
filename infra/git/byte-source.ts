/** The stream ended before the requested bytes. */
export class EndOfBytes extends Error {
  constructor() {
    super('the stream ended early')
    this.name = 'EndOfBytes'
  }
}

const LINE_BYTES = 1024
const LINE_BREAK = 0x0a

/** Reads lines and byte counts from a stream. Holds one chunk at a time. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>
  #chunk: Buffer = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** The next line of ASCII, without its line break. @throws EndOfBytes, also when the line is longer than 1 KiB */
  async line(): Promise<string> {
    let end = this.#chunk.indexOf(LINE_BREAK)
    while (end < 0) {
      if (this.#chunk.length > LINE_BYTES) throw new EndOfBytes()
      const before = this.#chunk
      await this.#next()
      this.#chunk = Buffer.concat([before, this.#chunk])
      end = this.#chunk.indexOf(LINE_BREAK)
    }
    return this.#take(end + 1).toString('latin1', 0, end)
  }

  /** A copy of the next `count` bytes. @throws EndOfBytes */
  async bytes(count: number): Promise<Uint8Array> {
    const taken = new Uint8Array(count)
    let filled = 0
    for await (const part of this.parts(count)) {
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
  async skip(count: number): Promise<void> {
    for await (const _ of this.parts(count));
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
