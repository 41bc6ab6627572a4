import { FormatError } from '../snapshot/damage.ts'

/** Encodes numbers as varints of seven bits per byte, low bits first, and texts in UTF-8. */

/** The first `length` bytes of a buffer that may be longer and may be reused. Cheaper than a view. */
export interface Bytes {
  readonly data: Uint8Array
  readonly length: number
}

// Classes, so that all writers and readers have one hidden class: they process millions of bytes.

/** A growing buffer. */
export class ByteWriter implements Bytes {
  data: Uint8Array<ArrayBuffer>
  length = 0

  constructor(capacity = 1024) {
    this.data = new Uint8Array(capacity)
  }

  /** One byte, 0 to 255. */
  byte(value: number): void {
    this.#reserve(1)
    this.data[this.length++] = value
  }

  /** An integer of 0 to 2^32 - 1. */
  varint(value: number): void {
    this.#reserve(VARINT_BYTES)
    let rest = value
    while (rest >= 0x80) {
      this.data[this.length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.data[this.length++] = rest
  }

  /** The bytes from `start` up to, not including, `end`. */
  bytes(bytes: Uint8Array, start = 0, end = bytes.length): void {
    const to = this.length
    const data = this.reserved(end - start)
    if (end - start > LOOPED_BYTES) data.set(bytes.subarray(start, end), to)
    else for (let at = start; at < end; at++) data[to + at - start] = bytes[at] as number
    this.length = to + end - start
  }

  /** A text in UTF-8. */
  utf8(text: string): void {
    this.#reserve(3 * text.length)
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      if (unit >= 0x80) {
        this.length += encoder.encodeInto(text.slice(at), this.data.subarray(this.length)).written
        return
      }
      this.data[this.length++] = unit
    }
  }

  /** Writes a text as its difference to the previous one: count of shared first bytes, then the other bytes. */
  text(text: Uint8Array, previous: Uint8Array): void {
    const shared = commonBytes(text, text.length, previous, previous.length)
    this.varint(shared)
    this.varint(text.length - shared)
    this.bytes(text, shared)
  }

  /** The buffer with capacity for `more` bytes. The caller writes them and sets `length`: the fastest way to write many. */
  reserved(more: number): Uint8Array {
    this.#reserve(more)
    return this.data
  }

  /** A copy of exactly what was written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.data.slice(0, this.length)
  }

  /** Truncates to the first `length` bytes. */
  cut(length: number): void {
    this.length = length
  }

  #reserve(more: number): void {
    if (this.length + more <= this.data.length) return
    const grown = new Uint8Array(Math.max(2 * this.data.length, this.length + more))
    grown.set(this.data)
    this.data = grown
  }
}

/** Reads the bytes of a `ByteWriter` from `position` up to, not including, `end`. @throws FormatError on every read past `end` */
export class ByteReader {
  readonly data: Uint8Array
  position: number
  readonly end: number

  constructor(data: Uint8Array, start = 0, end = data.length) {
    this.data = data
    this.position = start
    this.end = end
  }

  get atEnd(): boolean {
    return this.position === this.end
  }

  byte(): number {
    if (this.position >= this.end) throw new FormatError('read past the end')
    return this.data[this.position++] as number
  }

  varint(): number {
    const first = this.byte()
    if (first < 0x80) return first
    let value = first & 0x7f
    for (let scale = 0x80; scale <= LARGEST_SCALE; scale *= 0x80) {
      const byte = this.byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (value > 0xffff_ffff) break
        return value
      }
    }
    throw new FormatError('a varint is too long')
  }

  /** A view of the next bytes. */
  bytes(length: number): Uint8Array {
    this.skip(length)
    return this.data.subarray(this.position - length, this.position)
  }

  /** Appends the next bytes to a writer. */
  copyTo(writer: ByteWriter, length: number): void {
    this.skip(length)
    writer.bytes(this.data, this.position - length, this.position)
  }

  skip(length: number): void {
    if (length > this.end - this.position) throw new FormatError('read past the end')
    this.position += length
  }

  /** Skips `count` varints. */
  skipVarints(count: number): void {
    for (let left = count; left > 0; ) if (this.byte() < 0x80) left--
  }

  /** Reads a text that was written as its difference to the previous one. */
  text(previous: Uint8Array): Uint8Array {
    const shared = this.varint()
    const rest = this.bytes(this.varint())
    if (shared > previous.length) throw new FormatError('a text shares more than there is')
    const text = new Uint8Array(shared + rest.length)
    text.set(previous.subarray(0, shared))
    text.set(rest, shared)
    return text
  }
}

/** How many bytes an integer takes. */
export function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest >>>= 7) bytes++
  return bytes
}

/** What 32 bits take at most. */
export const VARINT_BYTES = 5
/** Of the last of them. */
const LARGEST_SCALE = 2 ** 28
/** So few are copied faster one by one than through a view. */
const LOOPED_BYTES = 32

const encoder = new TextEncoder()

/** How many bytes two texts begin with alike. */
export function commonBytes(left: Uint8Array, leftLength: number, right: Uint8Array, rightLength: number): number {
  const most = Math.min(leftLength, rightLength)
  let common = 0
  while (common < most && left[common] === right[common]) common++
  return common
}

export const NO_BYTES = new Uint8Array(0)

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws TypeError when the bytes are not UTF-8 */
export function textOfBytes(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** @throws TypeError when the bytes are not UTF-8 */
export function textOf({ data, length }: Bytes): string {
  return decoder.decode(data.subarray(0, length))
}

/** Blocks of terms and of words are stored in columns of similar data: they compress better, and one column can be scanned without the others. */

/** Joins the columns, with the lengths of all but the last in front, and clears them. */
export function takeColumns(columns: readonly ByteWriter[]): Uint8Array {
  const block = new ByteWriter(columns.reduce((bytes, { length }) => bytes + length, 5 * columns.length))
  for (const { length } of columns.slice(0, -1)) block.varint(length)
  for (const column of columns) {
    block.bytes(column.data, 0, column.length)
    column.cut(0)
  }
  return block.finish()
}

/** @throws FormatError */
export function openColumns(block: Uint8Array, count: number): ByteReader[] {
  const lengths = new ByteReader(block)
  const ends = Array.from({ length: count - 1 }, () => lengths.varint())
  let start = lengths.position
  return [...ends, null].map(length => {
    const end = length === null ? block.length : start + length
    if (end > block.length) throw new FormatError('a column is longer than its block')
    const column = new ByteReader(block, start, end)
    start = end
    return column
  })
}
