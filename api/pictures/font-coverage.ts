import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'

/** Inclusive range of code points. */
export type Range = [first: number, last: number]

const HEADER_BYTES = 48
/** Numbers that stand for names of tables in the directory; the last one is followed by the name itself. */
const [CMAP, HMTX, GLYF, LOCA, NAMED] = [0, 3, 10, 11, 63]

/**
 * The characters for which a WOFF2 file has a glyph, in order. The lists that come with the packages of fonts name more: those of Chinese fonts name
 * Hangul, which is in none of their files.
 *
 * @throws Error for another format
 */
export async function readCoverage(woff2: Buffer): Promise<Range[]> {
  if (woff2.toString('latin1', 0, 4) !== 'wOF2') throw new Error('not a WOFF2 file')
  const { start, length, end } = findCmap(woff2)
  const compressed = woff2.subarray(end, end + woff2.readUInt32BE(20))
  const tables = await promisify(brotliDecompress)(compressed)
  return readCmap(tables.subarray(start, start + length))
}

/** Place and length of the table `cmap` in what is compressed, and where the directory of tables ends. */
function findCmap(woff2: Buffer): { start: number; length: number; end: number } {
  let at = HEADER_BYTES
  let offset = 0
  let cmap = { start: 0, length: 0 }
  const readNumber = () => {
    let value = 0
    for (;;) {
      const byte = woff2.readUInt8(at++)
      value = value * 128 + (byte & 0x7f)
      if (byte < 0x80) return value
    }
  }
  for (let table = 0; table < woff2.readUInt16BE(12); table++) {
    const flags = woff2.readUInt8(at++)
    const [name, transform] = [flags & 0x3f, flags >> 6]
    if (name === NAMED) at += 4
    const originalLength = readNumber()
    const isTransformed = name === GLYF || name === LOCA ? transform === 0 : name === HMTX ? transform === 1 : false
    const length = isTransformed ? readNumber() : originalLength
    if (name === CMAP) cmap = { start: offset, length }
    offset += length
  }
  return { ...cmap, end: at }
}

/** Encodings of Unicode, the whole of it first. */
const ENCODINGS: readonly (readonly [platform: number, encoding: number])[] = [
  [3, 10],
  [0, 4],
  [3, 1],
  [0, 3],
]

function readCmap(cmap: Buffer): Range[] {
  for (const [platform, encoding] of ENCODINGS) {
    for (let record = 0; record < cmap.readUInt16BE(2); record++) {
      const at = 4 + record * 8
      if (cmap.readUInt16BE(at) !== platform || cmap.readUInt16BE(at + 2) !== encoding) continue
      const table = cmap.subarray(cmap.readUInt32BE(at + 4))
      const format = table.readUInt16BE(0)
      if (format === 12) return readGroups(table)
      if (format === 4) return readSegments(table)
    }
  }
  throw new Error('no table of characters that is read here')
}

/** Format 12. */
function readGroups(table: Buffer): Range[] {
  return Array.from({ length: table.readUInt32BE(12) }, (_, group) => {
    const at = 16 + group * 12
    return [table.readUInt32BE(at), table.readUInt32BE(at + 4)]
  })
}

/** Format 4: segments, of which some characters may have the glyph of a missing one. */
function readSegments(table: Buffer): Range[] {
  const size = table.readUInt16BE(6)
  const [ends, starts, deltas, offsets] = [14, 16 + size, 16 + 2 * size, 16 + 3 * size]
  const covered: Range[] = []
  for (let at = 0; at < size; at += 2) {
    const [first, last] = [table.readUInt16BE(starts + at), table.readUInt16BE(ends + at)]
    const [delta, offset] = [table.readUInt16BE(deltas + at), table.readUInt16BE(offsets + at)]
    for (let code = first; code <= last && code < 0xffff; code++) {
      const stored = offset === 0 ? code : table.readUInt16BE(offsets + at + offset + 2 * (code - first))
      const glyph = stored === 0 && offset !== 0 ? 0 : (stored + delta) & 0xffff
      const previous = covered.at(-1)
      if (glyph === 0) continue
      if (previous?.[1] === code - 1) previous[1] = code
      else covered.push([code, code])
    }
  }
  return covered
}
