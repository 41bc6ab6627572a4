import { t } from '#words/t.ts'

/** A picture whose bytes are one whole file of its format, with nothing behind its end. */
export interface PictureFormat extends PictureType {
  /** Pixels. */
  width: number
  height: number
}

/** Why bytes are no picture, as a phrase that follows the name of the file. */
export interface FormatProblem {
  problem: string
}

/** A picture of 4,096 pixels square, which takes 64 MiB where it is decoded: here, and by each visitor's browser. */
export const PICTURE_PIXELS = 4_096 * 4_096

/**
 * Reads the frame of a picture, without its pixels: its size, and whether it ends where the file ends. A file that is something else besides,
 * an archive or a page, is refused: a program that guesses types could take it for that.
 */
export function readPictureFormat(bytes: Uint8Array): PictureFormat | FormatProblem {
  const kind = pictureTypeOf(bytes)
  if (kind === null) return { problem: t('fault.pictureForm') }
  const frame = FRAMES[kind.extension](bytes)
  if (frame === null || frame.width === 0 || frame.height === 0) return { problem: t('fault.brokenPicture') }
  const pixels = frame.width * frame.height
  if (pixels > PICTURE_PIXELS) return { problem: t('fault.tooManyPixels', { n: pixels, limit: PICTURE_PIXELS }) }
  if (frame.end !== bytes.length) return { problem: t('fault.behindPicture') }
  const second = secondFormatOf(bytes)
  if (second !== null) return { problem: t('fault.besidesPicture', { what: second }) }
  return { ...kind, width: frame.width, height: frame.height }
}

/** The name of another format that programs would find in the bytes; `null` when there is none. */
export function secondFormatOf(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  if (text.slice(0, 1024).includes('%PDF-')) return 'a PDF document'
  if (text.slice(-ARCHIVE_END_BYTES).includes('PK\x05\x06')) return 'a ZIP archive'
  if (/<(?:!doctype|html|head|body|script|svg|iframe)[\s>]/i.test(text)) return 'a page'
  return null
}

/** The end of a ZIP archive lies within its last bytes: 22, and a comment. */
const ARCHIVE_END_BYTES = 22 + 65_535

interface Frame {
  width: number
  height: number
  /** Offset behind its last byte. */
  end: number
}

/** `null` when the bytes break off or are not as the format wants them. */
const FRAMES: Record<PictureType['extension'], (bytes: Uint8Array) => Frame | null> = {
  png: readPng,
  jpg: readJpeg,
  gif: readGif,
  webp: readWebp,
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function nameAt(bytes: Uint8Array, offset: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + 4))
}

function readPng(bytes: Uint8Array): Frame | null {
  const view = viewOf(bytes)
  if (bytes.length < 33 || nameAt(bytes, 12) !== 'IHDR') return null
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  for (let at = 8; at + 12 <= bytes.length; ) {
    const next = at + 12 + view.getUint32(at)
    if (next > bytes.length) return null
    if (nameAt(bytes, at + 4) === 'IEND') return { width, height, end: next }
    at = next
  }
  return null
}

function readJpeg(bytes: Uint8Array): Frame | null {
  const view = viewOf(bytes)
  let size = { width: 0, height: 0 }
  for (let at = 2; at + 2 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) at++
    else if (marker === 0xd9) return { ...size, end: at + 2 }
    else if (isAlone(marker)) at += 2
    else {
      if (at + 4 > bytes.length) return null
      const next = at + 2 + view.getUint16(at + 2)
      if (next > bytes.length) return null
      if (isFrameOfJpeg(marker) && at + 9 <= bytes.length)
        size = { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
      at = marker === 0xda ? endOfScan(bytes, next) : next
    }
  }
  return null
}

/** Markers without a length: TEM, restarts and the start of the picture. */
function isAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)
}

function isFrameOfJpeg(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}

/** Offset of the first marker behind the compressed data that begins at `from`. */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at
  }
  return bytes.length
}

function readGif(bytes: Uint8Array): Frame | null {
  if (bytes.length < 14) return null
  const view = viewOf(bytes)
  const [width, height] = [view.getUint16(6, true), view.getUint16(8, true)]
  let at = 13 + colourBytes(bytes[10] ?? 0)
  while (at < bytes.length) {
    const kind = bytes[at]
    if (kind === 0x3b) return { width, height, end: at + 1 }
    if (kind === 0x21) at = endOfBlocks(bytes, at + 2)
    else if (kind === 0x2c) at = endOfBlocks(bytes, at + 11 + colourBytes(bytes[at + 9] ?? 0))
    else return null
  }
  return null
}

function colourBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1)
}

/** Skips blocks that each begin with their length, up to the empty block that ends them. Returns the offset after that block. */
function endOfBlocks(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] ?? 0)
  return at + 1
}

function readWebp(bytes: Uint8Array): Frame | null {
  const view = viewOf(bytes)
  if (bytes.length < 30) return null
  const end = 8 + view.getUint32(4, true)
  if (end > bytes.length) return null
  let size: { width: number; height: number } | null = null
  let at = 12
  while (at + 8 <= end) {
    size ??= sizeOfWebpChunk(bytes, at)
    const length = view.getUint32(at + 4, true)
    at += 8 + length + (length % 2)
  }
  return size !== null && at === end ? { ...size, end } : null
}

function sizeOfWebpChunk(bytes: Uint8Array, at: number): { width: number; height: number } | null {
  const view = viewOf(bytes)
  if (at + 18 > bytes.length) return null
  switch (nameAt(bytes, at)) {
    case 'VP8X':
      return { width: 1 + (view.getUint32(at + 12, true) & 0xffffff), height: 1 + (view.getUint32(at + 14, true) >>> 8) }
    case 'VP8 ':
      return { width: view.getUint16(at + 14, true) & 0x3fff, height: view.getUint16(at + 16, true) & 0x3fff }
    case 'VP8L': {
      const bits = view.getUint32(at + 9, true)
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
    }
    default:
      return null
  }
}

/** Media type and file extension of a picture. */
interface PictureType {
  type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  extension: 'png' | 'jpg' | 'gif' | 'webp'
}

/** The type by the first bytes, whatever the file name says; `null` when it is not a picture that is served. */
export function pictureTypeOf(bytes: Uint8Array): PictureType | null {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return { type: 'image/png', extension: 'png' }
  if (head.startsWith('\xff\xd8\xff')) return { type: 'image/jpeg', extension: 'jpg' }
  if (/^GIF8[79]a/.test(head)) return { type: 'image/gif', extension: 'gif' }
  if (/^RIFF.{4}WEBP/s.test(head)) return { type: 'image/webp', extension: 'webp' }
  return null
}
