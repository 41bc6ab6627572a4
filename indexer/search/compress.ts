import { constants, deflateRawSync } from 'node:zlib'

// With the least memory for blocks of some kilobytes: what zlib takes is taken anew for every call.
/** One more level makes a section smaller by less than a hundredth. */
const TEXT = { level: 4, memLevel: 7, windowBits: 14 }
/** In numbers little comes again, so nothing is looked for: it takes less time, and less room. */
const NUMBERS = { strategy: constants.Z_HUFFMAN_ONLY, memLevel: 7, windowBits: 12 }
/** More of the same stream follows. */
const MORE = { finishFlush: constants.Z_SYNC_FLUSH }
/** What bytes may grow by when they cannot be compressed. */
const GROWTH_BYTES = 64

/** As raw deflate. */
export function compress(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return compressParts([{ bytes, isText: true }])
}

/** Parts one behind the other as one stream of raw deflate, each compressed by itself. */
export function compressParts(parts: readonly { bytes: Uint8Array; isText: boolean }[]): Uint8Array<ArrayBuffer> {
  const packed = parts.map(({ bytes, isText }, index) => {
    const isLast = index === parts.length - 1
    const chunkSize = bytes.length + GROWTH_BYTES
    return deflateRawSync(bytes, { ...(isText ? TEXT : NUMBERS), ...(isLast ? {} : MORE), chunkSize })
  })
  // zlib hands out views of larger buffers: the copy lets those go.
  const whole = new Uint8Array(packed.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of packed) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
