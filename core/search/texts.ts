import { type ByteReader, type Bytes, ByteWriter, commonBytes } from './bytes.ts'

// Terms are counted in millions, hence classes as in `bytes.ts`.

/** Texts in byte order, each as it differs from the one before: how many bytes they share and how many follow, in one byte; and those that follow. */
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

  /** The next text has none before it. */
  begin(): void {
    this.#previous.cut(0)
  }
}

/** Half a byte that says this is followed by a number that says how much more. */
const WIDE = 15

/** The texts of a block, one after another. */
export class TextsReader {
  /** The text at hand, in UTF-8. */
  readonly text: Bytes
  readonly #text = new ByteWriter(256)
  readonly #widths: ByteReader
  readonly #rests: ByteReader

  constructor(widths: ByteReader, rests: ByteReader) {
    this.text = this.#text
    this.#widths = widths
    this.#rests = rests
  }

  /** Goes on to the next text; whether there is one. @throws RangeError */
  next(): boolean {
    const text = this.#text
    const widths = this.#widths
    if (widths.atEnd) {
      if (!this.#rests.atEnd) throw new RangeError('more bytes than texts')
      return false
    }
    const both = widths.byte()
    const shared = both >> 4 === WIDE ? WIDE + widths.varint() : both >> 4
    const more = both % 16 === WIDE ? WIDE + widths.varint() : both % 16
    if (shared > text.length) throw new RangeError('a text shares more than there is')
    text.cut(shared)
    this.#rests.copyTo(text, more)
    return true
  }

  /**
   * Goes on to the first of the texts that are left which does not come before `bytes`, without making those in between.
   *
   * @returns how many steps that are; 0 when there is no such text
   * @throws RangeError
   */
  seek(bytes: Uint8Array): number {
    const text = this.#text
    const widths = this.#widths
    const rests = this.#rests
    /** How many bytes the text at hand begins with like `bytes`: it comes before them, so what shares more with it does, too. */
    let alike = 0
    let length = text.length
    for (let steps = 1; !widths.atEnd; steps++) {
      const both = widths.byte()
      const shared = both >> 4 === WIDE ? WIDE + widths.varint() : both >> 4
      const more = both % 16 === WIDE ? WIDE + widths.varint() : both % 16
      if (shared > length) throw new RangeError('a text shares more than there is')
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
