import { FormatError } from '../snapshot/damage.ts'
import { type ByteReader, type Bytes, ByteWriter, commonBytes } from './bytes.ts'

// Classes, as in `bytes.ts`: there are millions of terms.

/** Writes texts in byte order, each as its difference to the previous one: the counts of shared and of other bytes in one byte, then the other bytes. */
export class TextsWriter {
  readonly columns = [new ByteWriter(), new ByteWriter()] as const
  readonly #previous = new ByteWriter(256)

  get bytes(): number {
    return this.columns[0].length + this.columns[1].length
  }

  add({ data, length }: Bytes): void {
    const [widths, rests] = this.columns
    const previous = this.#previous
    const shared = commonBytes(data, length, previous.data, previous.length)
    const more = length - shared
    widths.byte(Math.min(shared, WIDE) * 16 + Math.min(more, WIDE))
    if (shared >= WIDE) widths.varint(shared - WIDE)
    if (more >= WIDE) widths.varint(more - WIDE)
    rests.bytes(data, shared, length)
    previous.cut(shared)
    previous.bytes(data, shared, length)
  }

  /** Begins a new block: the next text shares no bytes. */
  begin(): void {
    this.#previous.cut(0)
  }
}

/** The largest count in half a byte: a varint with the excess follows. */
const WIDE = 15

/** Iterates over the texts of a block. */
export class TextsReader {
  /** The current text, in UTF-8. */
  readonly text: Bytes
  readonly #text = new ByteWriter(256)
  readonly #widths: ByteReader
  readonly #rests: ByteReader

  constructor(widths: ByteReader, rests: ByteReader) {
    this.text = this.#text
    this.#widths = widths
    this.#rests = rests
  }

  /** Moves to the next text; `false` at the end. @throws FormatError */
  next(): boolean {
    const text = this.#text
    const widths = this.#widths
    if (widths.atEnd) {
      if (!this.#rests.atEnd) throw new FormatError('more bytes than texts')
      return false
    }
    const both = widths.byte()
    const shared = both >> 4 === WIDE ? WIDE + widths.varint() : both >> 4
    const more = both % 16 === WIDE ? WIDE + widths.varint() : both % 16
    if (shared > text.length) throw new FormatError('a text shares more bytes than the previous one has')
    text.cut(shared)
    this.#rests.copyTo(text, more)
    return true
  }

  /**
   * Moves to the first text that is not before `bytes` in byte order, without decoding the texts before it. For a new reader only.
   *
   * @returns the number of steps; 0 when there is no such text
   * @throws FormatError
   */
  seek(bytes: Uint8Array): number {
    const text = this.#text
    const widths = this.#widths
    const rests = this.#rests
    /** The count of first bytes that the current text shares with `bytes`. It comes before them, so a text that shares more with it does, too. */
    let alike = 0
    let length = text.length
    for (let steps = 1; !widths.atEnd; steps++) {
      const both = widths.byte()
      const shared = both >> 4 === WIDE ? WIDE + widths.varint() : both >> 4
      const more = both % 16 === WIDE ? WIDE + widths.varint() : both % 16
      if (shared > length) throw new FormatError('a text shares more bytes than the previous one has')
      length = shared + more
      const start = rests.position
      rests.skip(more)
      if (shared > alike) continue
      alike = shared
      const end = start + more
      let at = start
      while (at < end && alike < bytes.length && rests.data[at] === bytes[alike]) {
        at++
        alike++
      }
      const isBefore = alike < bytes.length && (at === end || (rests.data[at] as number) < (bytes[alike] as number))
      if (isBefore) continue
      text.cut(0)
      text.bytes(bytes, 0, shared)
      text.bytes(rests.data, start, end)
      return steps
    }
    return 0
  }
}
