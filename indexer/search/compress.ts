import { constants, deflateRawSync } from 'node:zlib'

// Small windows and memory levels: zlib allocates them anew for every block of a few kilobytes.
/** A higher level makes a section less than 1 % smaller. */
const TEXT = { level: 4, memLevel: 7, windowBits: 14 }
/** Numbers rarely repeat: Huffman coding alone is faster and smaller. */
const NUMBERS = { strategy: constants.Z_HUFFMAN_ONLY, memLevel: 7, windowBits: 12 }
/** For all parts of a stream but the last. */
const MORE = { finishFlush: constants.Z_SYNC_FLUSH }
/** Growth of bytes that do not compress. */
const GROWTH_BYTES = 64

/** Compresses to raw deflate. */
export function compress(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return compressParts([{ bytes, isText: true }])
}

/** Compresses parts to one stream of raw deflate, each part by itself. */
export function compressParts(parts: readonly { bytes: Uint8Array; isText: boolean }[]): Uint8Array<ArrayBuffer> {
  const packed = parts.map(({ bytes, isText }, index) => {
    const isLast = index === parts.length - 1
    const chunkSize = bytes.length + GROWTH_BYTES
    return deflateRawSync(bytes, { ...(isText ? TEXT : NUMBERS), ...(isLast ? {} : MORE), chunkSize })
  })
  // zlib returns views of larger buffers: the copy frees those.
  const whole = new Uint8Array(packed.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of packed) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
