/** Numbers and texts as bytes: varints of seven bits a byte, low ones first; texts in UTF-8. */

/** Bytes that grow as they are written. */
export interface ByteWriter {
  readonly length: number
  /** One byte, 0 to 255. */
  byte(value: number): void
  /** An integer of 0 to 2^32 - 1. */
  varint(value: number): void
  bytes(bytes: Uint8Array): void
  /** The text as it differs from the one before it: shared bytes, other bytes. */
  text(text: Uint8Array, previous: Uint8Array): void
  /** A copy of exactly what was written. */
  finish(): Uint8Array<ArrayBuffer>
  /** Forgets what was written, to be used again. */
  reset(): void
}

export function createByteWriter(capacity = 1024): ByteWriter {
  let buffer = new Uint8Array(capacity)
  let length = 0

  function reserve(more: number): void {
    if (length + more <= buffer.length) return
    const grown = new Uint8Array(Math.max(2 * buffer.length, length + more))
    grown.set(buffer)
    buffer = grown
  }

  const writer: ByteWriter = {
    get length() {
      return length
    },
    byte(value) {
      reserve(1)
      buffer[length++] = value
    },
    varint(value) {
      reserve(VARINT_BYTES)
      let rest = value
      while (rest >= 0x80) {
        buffer[length++] = (rest & 0x7f) | 0x80
        rest >>>= 7
      }
      buffer[length++] = rest
    },
    bytes(bytes) {
      reserve(bytes.length)
      buffer.set(bytes, length)
      length += bytes.length
    },
    text(text, previous) {
      const shared = sharedBytes(text, previous)
      writer.varint(shared)
      writer.varint(text.length - shared)
      reserve(text.length - shared)
      // Texts are short and many: this is faster than making views to copy from.
      for (let at = shared; at < text.length; at++) buffer[length++] = text[at] as number
    },
    finish: () => buffer.slice(0, length),
    reset() {
      length = 0
    },
  }
  return writer
}

/** Reads what a `ByteWriter` wrote. Every read throws RangeError past the end. */
export interface ByteReader {
  readonly position: number
  readonly atEnd: boolean
  byte(): number
  varint(): number
  /** A view of the next bytes. */
  bytes(length: number): Uint8Array
  /** A text as it differs from the one before it. */
  text(previous: Uint8Array): Uint8Array
}

export function createByteReader(bytes: Uint8Array): ByteReader {
  let position = 0

  const reader: ByteReader = {
    get position() {
      return position
    },
    get atEnd() {
      return position === bytes.length
    },
    byte() {
      const value = bytes[position]
      if (value === undefined) throw new RangeError('read past the end')
      position++
      return value
    },
    varint() {
      const first = bytes[position]
      if (first !== undefined && first < 0x80) {
        position++
        return first
      }
      let value = 0
      for (let shift = 0; shift < 7 * VARINT_BYTES; shift += 7) {
        const byte = reader.byte()
        value += (byte & 0x7f) * 2 ** shift
        if (byte < 0x80) {
          if (value > 0xffff_ffff) break
          return value
        }
      }
      throw new RangeError('a number is too long')
    },
    bytes(length) {
      if (position + length > bytes.length) throw new RangeError('read past the end')
      const view = bytes.subarray(position, position + length)
      position += length
      return view
    },
    text(previous) {
      const shared = reader.varint()
      const rest = reader.bytes(reader.varint())
      if (shared > previous.length) throw new RangeError('a text shares more than there is')
      if (shared === 0) return rest
      const text = new Uint8Array(shared + rest.length)
      for (let at = 0; at < shared; at++) text[at] = previous[at] as number
      for (let at = 0; at < rest.length; at++) text[shared + at] = rest[at] as number
      return text
    },
  }
  return reader
}

/** What 32 bits take at most. */
const VARINT_BYTES = 5

function sharedBytes(left: Uint8Array, right: Uint8Array): number {
  const most = Math.min(left.length, right.length)
  let shared = 0
  while (shared < most && left[shared] === right[shared]) shared++
  return shared
}

export const NO_BYTES = new Uint8Array(0)

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws TypeError when the bytes are not UTF-8 */
export function textOfBytes(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}
