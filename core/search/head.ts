import { FormatError } from '../snapshot/damage.ts'
import { encodeText } from '../text.ts'
import { ByteReader, ByteWriter, NO_BYTES, textOfBytes } from './bytes.ts'

/**
 * The head of a search section: the data that every search needs, and the index of the blocks. Positions count bytes from the beginning of
 * the section.
 *
 * Layout before the head: long lists of postings in term order; the blocks of terms, of items and of words; a fingerprint of
 * `FINGERPRINT_BYTES` for every item.
 */
export interface SearchHead {
  /** The kind of each item, by number; see `ITEM_KIND`. */
  kinds: Uint8Array
  /** For each item the number of the skill that owns it: a skill owns itself; for a document it is -1. */
  owners: Int32Array
  /** 1 for each skill in a folder for tests, examples or documentation, and each document in one for tests: they rank lower. 0 for all other items. */
  asides: Uint8Array
  /** For each skill that is a copy of another one, the number of that one. */
  copies: ReadonlyMap<number, number>
  /** The number of terms in the title of each item, at most 255. */
  titleLengths: Uint8Array
  terms: BlockIndex
  /** For each block of terms, the start of its long lists; then the end of all lists. */
  postings: Uint32Array
  items: BlockIndex
  words: BlockIndex
  /** CRC-32 of every page of `PAGE_BYTES` before the head; the last page may be shorter. */
  checksums: Uint32Array
}

/** Blocks in the order of their keys. */
export interface BlockIndex {
  /** The first key of every block: a term, a path, a `spellingKey`. */
  firstKeys: readonly string[]
  /** The start of each block; then the end of the last one. */
  starts: Uint32Array
}

/** Items are numbered in byte order of their paths, so everything below a folder is one interval. */
export const ITEM_KIND = {
  skill: 0,
  /** A supporting file in Markdown: a document where its skill is not mounted. */
  page: 1,
  /** Any other supporting file. */
  file: 2,
  document: 3,
} as const
const KINDS = 4
export type ItemKind = (typeof ITEM_KIND)[keyof typeof ITEM_KIND]

export const PAGE_BYTES = 4 * 1024
/** Length of the hash that identifies an unchanged item in a later commit. */
export const FINGERPRINT_BYTES = 12

/** Maximum size of an unpacked head; a million items take a quarter of it. */
export const HEAD_BYTES = 64 * 1024 * 1024

export const TITLE_LENGTH_MAX = 255

export function encodeHead(head: SearchHead): Uint8Array {
  const writer = new ByteWriter(64 * 1024)
  const { kinds, owners, asides, copies, titleLengths, terms, postings, items, words, checksums } = head
  writer.varint(kinds.length)
  for (const [item, kind] of kinds.entries()) {
    // The distance to the owner of a supporting file, or to the skill that a skill is a copy of, which may be negative.
    const isSupporting = kind === ITEM_KIND.page || kind === ITEM_KIND.file
    const distance = zigzag(item - ((isSupporting ? owners[item] : copies.get(item)) ?? item))
    writer.varint((distance * 2 + (asides[item] ?? 0)) * KINDS + kind)
    writer.byte(titleLengths[item] ?? 0)
  }
  writeIndex(writer, terms)
  writeStarts(writer, postings)
  writeIndex(writer, items)
  writeIndex(writer, words)
  writer.varint(checksums.length)
  for (const checksum of checksums) for (let shift = 0; shift < 32; shift += 8) writer.byte((checksum >>> shift) & 0xff)
  return writer.finish()
}

/** @throws FormatError or TypeError when the bytes are not a head */
export function decodeHead(bytes: Uint8Array): SearchHead {
  const reader = new ByteReader(bytes)
  const count = boundedCount(reader, bytes.length)
  const kinds = new Uint8Array(count)
  const owners = new Int32Array(count)
  const asides = new Uint8Array(count)
  const copies = new Map<number, number>()
  const titleLengths = new Uint8Array(count)
  for (let item = 0; item < count; item++) {
    const packed = reader.varint()
    const kind = packed % KINDS
    const related = item - unzigzag(Math.floor(packed / (2 * KINDS)))
    kinds[item] = kind
    asides[item] = Math.floor(packed / KINDS) % 2
    owners[item] = kind === ITEM_KIND.document ? -1 : kind === ITEM_KIND.skill ? item : related
    if (kind === ITEM_KIND.skill && related !== item) copies.set(item, related)
    titleLengths[item] = reader.byte()
  }
  if (owners.some(owner => owner >= count)) throw new FormatError('the owner of an item does not exist')
  for (const original of copies.values()) {
    if (kinds[original] !== ITEM_KIND.skill || copies.has(original)) throw new FormatError('a skill is a copy of none')
  }
  const terms = readIndex(reader, bytes.length)
  const postings = readStarts(reader, terms.firstKeys.length)
  const items = readIndex(reader, bytes.length)
  const words = readIndex(reader, bytes.length)
  const checksums = Uint32Array.from({ length: boundedCount(reader, bytes.length) }, () => {
    return reader.byte() + reader.byte() * 2 ** 8 + reader.byte() * 2 ** 16 + reader.byte() * 2 ** 24
  })
  if (!reader.atEnd) throw new FormatError('bytes left after the head')
  return { kinds, owners, asides, copies, titleLengths, terms, postings, items, words, checksums }
}

// Every element takes at least a byte, so a damaged count cannot allocate more memory than that.
function boundedCount(reader: ByteReader, most: number): number {
  const count = reader.varint()
  if (count > most) throw new FormatError('a count is too large')
  return count
}

function writeIndex(writer: ByteWriter, { firstKeys, starts }: BlockIndex): void {
  writer.varint(firstKeys.length)
  let previous: Uint8Array = NO_BYTES
  for (const key of firstKeys) {
    const text = encodeText(key)
    writer.text(text, previous)
    previous = text
  }
  writeStarts(writer, starts)
}

function readIndex(reader: ByteReader, most: number): BlockIndex {
  const firstKeys: string[] = []
  let previous: Uint8Array = NO_BYTES
  for (let left = boundedCount(reader, most); left > 0; left--) {
    previous = reader.text(previous)
    firstKeys.push(textOfBytes(previous))
  }
  return { firstKeys, starts: readStarts(reader, firstKeys.length) }
}

function writeStarts(writer: ByteWriter, starts: Uint32Array): void {
  let previous = 0
  for (const start of starts) {
    writer.varint(start - previous)
    previous = start
  }
}

function readStarts(reader: ByteReader, blocks: number): Uint32Array {
  let start = 0
  return Uint32Array.from({ length: blocks + 1 }, () => {
    start += reader.varint()
    if (start > 0xffff_ffff) throw new FormatError('a position is too large')
    return start
  })
}

function zigzag(value: number): number {
  return value >= 0 ? 2 * value : -2 * value - 1
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}
