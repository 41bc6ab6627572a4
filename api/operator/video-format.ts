import { t } from '#words/t.ts'
import type { FormatProblem } from './picture-format.ts'

/** A clip whose bytes are one whole file of its format. */
export interface VideoFormat {
  type: 'video/mp4' | 'video/webm'
  extension: 'mp4' | 'webm'
  /** Pixels. */
  width: number
  height: number
  durationMs: number
}

export const NO_VIDEO = { problem: t('fault.notClip') } as const
const NOT_WHOLE = { problem: t('fault.brokenClip') } as const
const NO_SIZE = { problem: t('fault.clipSize') } as const

/** Reads the frame of a clip, without its pictures: its size, its duration, and whether it ends where the file ends. */
export function readVideoFormat(bytes: Uint8Array): VideoFormat | FormatProblem {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.subarray(4, 8).toString('latin1') === 'ftyp') return readMp4(buffer)
  if (buffer.length >= 4 && buffer.readUInt32BE(0) === EBML) return readWebm(buffer)
  return NO_VIDEO
}

/** A part of a file: offsets of its content. */
interface Part<Name> {
  name: Name
  start: number
  end: number
}

/** @returns the parts between two offsets, which they fill exactly; `null` when they do not */
function splitBoxes(bytes: Buffer, from: number, to: number): Part<string>[] | null {
  const boxes: Part<string>[] = []
  for (let at = from; at < to; ) {
    if (at + 8 > to) return null
    const short = bytes.readUInt32BE(at)
    if (short === 1 && at + 16 > to) return null
    const head = short === 1 ? 16 : 8
    const size = short === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : short
    if (size < head || at + size > to) return null
    boxes.push({ name: bytes.toString('latin1', at + 4, at + 8), start: at + head, end: at + size })
    at += size
  }
  return boxes
}

function readMp4(bytes: Buffer): VideoFormat | FormatProblem {
  const top = splitBoxes(bytes, 0, bytes.length)
  const movie = top?.find(({ name }) => name === 'moov')
  const inMovie = movie && splitBoxes(bytes, movie.start, movie.end)
  if (!top || !inMovie) return NOT_WHOLE
  const header = inMovie.find(({ name }) => name === 'mvhd')
  const durationMs = header === undefined ? 0 : readDuration(bytes, header)
  const sizes = inMovie
    .filter(({ name }) => name === 'trak')
    .flatMap(track => (splitBoxes(bytes, track.start, track.end) ?? []).filter(({ name }) => name === 'tkhd'))
    .map(head => ({ width: bytes.readUInt16BE(head.end - 8), height: bytes.readUInt16BE(head.end - 4) }))
  const size = sizes.find(({ width, height }) => width > 0 && height > 0)
  if (size === undefined || durationMs <= 0) return NO_SIZE
  return { type: 'video/mp4', extension: 'mp4', ...size, durationMs }
}

function readDuration(bytes: Buffer, { start, end }: Part<string>): number {
  const isLong = bytes[start] === 1
  if (start + (isLong ? 32 : 20) > end) return 0
  const ticks = isLong ? Number(bytes.readBigUInt64BE(start + 24)) : bytes.readUInt32BE(start + 16)
  return Math.round((ticks * 1000) / bytes.readUInt32BE(start + (isLong ? 20 : 12)))
}

const EBML = 0x1a45dfa3
const SEGMENT = 0x18538067
const INFO = 0x1549a966
const TIMESTAMP_SCALE = 0x2ad7b1
const DURATION = 0x4489
const TRACKS = 0x1654ae6b
const TRACK = 0xae
const VIDEO = 0xe0
const PIXEL_WIDTH = 0xb0
const PIXEL_HEIGHT = 0xba
const DOC_TYPE = 0x4282
const NANOSECONDS = 1_000_000

function readWebm(bytes: Buffer): VideoFormat | FormatProblem {
  const top = splitElements(bytes, 0, bytes.length)
  const head = top?.find(({ name }) => name === EBML)
  const segment = top?.find(({ name }) => name === SEGMENT)
  if (!top || !head || !segment) return NOT_WHOLE
  const docType = splitElements(bytes, head.start, head.end)?.find(({ name }) => name === DOC_TYPE)
  if (!docType || bytes.toString('latin1', docType.start, docType.end) !== 'webm') return NO_VIDEO
  const parts = splitElements(bytes, segment.start, segment.end)
  if (parts === null) return NOT_WHOLE
  const inside = (part: Part<number>, name: number) =>
    (splitElements(bytes, part.start, part.end) ?? []).filter(one => one.name === name)
  const find = (from: readonly Part<number>[], ...names: number[]) =>
    names.reduce<readonly Part<number>[]>((found, name) => found.flatMap(part => inside(part, name)), from)
  const infos = parts.filter(({ name }) => name === INFO)
  const videos = find(
    parts.filter(({ name }) => name === TRACKS),
    TRACK,
    VIDEO,
  )
  const number = (part: Part<number> | undefined) => (part === undefined ? 0 : readInteger(bytes, part))
  const [width, height] = [PIXEL_WIDTH, PIXEL_HEIGHT].map(name => number(find(videos, name)[0]))
  const scale = number(find(infos, TIMESTAMP_SCALE)[0]) || NANOSECONDS
  const duration = find(infos, DURATION)[0]
  const durationMs = duration === undefined ? 0 : Math.round((readFloat(bytes, duration) * scale) / NANOSECONDS)
  if (!width || !height || !(durationMs > 0)) return NO_SIZE
  return { type: 'video/webm', extension: 'webm', width, height, durationMs }
}

/** As `splitBoxes`. An element without a size, as recordings have them, fills nothing exactly. */
function splitElements(bytes: Buffer, from: number, to: number): Part<number>[] | null {
  const elements: Part<number>[] = []
  for (let at = from; at < to; ) {
    const name = readNumber(bytes, at, to, true)
    const size = name && readNumber(bytes, name.end, to, false)
    if (!name || !size || size.end + size.value > to) return null
    elements.push({ name: name.value, start: size.end, end: size.end + size.value })
    at = size.end + size.value
  }
  return elements
}

/** A number whose first byte tells its length. @param keepsMark names have the mark of their length, sizes do not */
function readNumber(bytes: Buffer, at: number, to: number, keepsMark: boolean): { value: number; end: number } | null {
  const first = bytes[at] ?? 0
  const length = Math.clz32(first) - 23
  if (first === 0 || length > (keepsMark ? 4 : 8) || at + length > to) return null
  let value = keepsMark ? first : first & (0xff >> length)
  for (let index = 1; index < length; index++) value = value * 256 + (bytes[at + index] ?? 0)
  return Number.isSafeInteger(value) ? { value, end: at + length } : null
}

function readInteger(bytes: Buffer, { start, end }: Part<number>): number {
  return end > start && end - start <= 6 ? bytes.readUIntBE(start, end - start) : 0
}

function readFloat(bytes: Buffer, { start, end }: Part<number>): number {
  if (end - start === 8) return bytes.readDoubleBE(start)
  return end - start === 4 ? bytes.readFloatBE(start) : 0
}
