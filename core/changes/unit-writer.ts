/** Writes a text of a few MiB without a string for each of its lines. */
export interface UnitWriter {
  write(text: string): void
  /** A sign, as its unit, then units of a text. */
  writeLine(sign: number, units: Uint16Array, start: number, end: number): void
  /** All that was written. */
  text(): string
}

const PIECE_UNITS = 32_768
/** Fewer are copied faster one by one. */
const COPIED_AT_ONCE = 64

export function createUnitWriter(): UnitWriter {
  const piece = new Uint16Array(PIECE_UNITS)
  const latin = Buffer.allocUnsafe(PIECE_UNITS)
  const wide = Buffer.from(piece.buffer)
  const pieces: string[] = []
  let length = 0

  function flush(): void {
    pieces.push(isLatin() ? latin.toString('latin1', 0, length) : wide.toString('utf16le', 0, 2 * length))
    length = 0
  }

  /** Whether all units are Latin letters, which take a byte each in memory: then `latin` has them. */
  function isLatin(): boolean {
    let all = 0
    for (let at = 0; at < length; at++) {
      const unit = piece[at] as number
      latin[at] = unit
      all |= unit
    }
    return all < 0x100
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
      piece[length++] = sign
      writeUnits(units, start, end)
    },
    text() {
      if (length > 0) flush()
      return pieces.join('')
    },
  }
}
