/** Writes a text of a few MiB without a string for each of its lines. */
export interface UnitWriter {
  write(text: string): void
  /** A sign, then units of a text. */
  writeLine(sign: string, units: Uint16Array, start: number, end: number): void
  /** All that was written. */
  text(): string
}

const PIECE_UNITS = 32_768
/** Fewer are copied faster one by one. */
const COPIED_AT_ONCE = 64

export function createUnitWriter(): UnitWriter {
  const piece = new Uint16Array(PIECE_UNITS)
  const pieces: string[] = []
  let length = 0

  function flush(): void {
    pieces.push(textOf(piece.subarray(0, length)))
    length = 0
  }

  function writeUnits(units: Uint16Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      if (length === PIECE_UNITS) flush()
      const count = Math.min(end - at, PIECE_UNITS - length)
      if (count > COPIED_AT_ONCE) piece.set(units.subarray(at, at + count), length)
      else for (let index = 0; index < count; index++) piece[length + index] = units[at + index] as number
      length += count
      at += count
    }
  }

  return {
    write(text) {
      for (let at = 0; at < text.length; at++) {
        if (length === PIECE_UNITS) flush()
        piece[length++] = text.charCodeAt(at)
      }
    },
    writeLine(sign, units, start, end) {
      if (length === PIECE_UNITS) flush()
      piece[length++] = sign.charCodeAt(0)
      writeUnits(units, start, end)
    },
    text() {
      if (length > 0) flush()
      return pieces.join('')
    },
  }
}

/** The text of UTF-16 units. One of Latin letters alone takes a byte for each in memory. */
function textOf(units: Uint16Array): string {
  let all = 0
  for (let at = 0; at < units.length; at++) all |= units[at] as number
  if (all < 0x100) return Buffer.from(units).toString('latin1')
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le')
}
