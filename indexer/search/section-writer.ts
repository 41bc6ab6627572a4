import { constants, crc32, deflateRawSync } from 'node:zlib'
import { type Bytes, ByteWriter, textOf } from '#core/search/bytes.ts'
import { type BlockIndex, encodeHead, type SearchHead } from '#core/search/head.ts'
import { BLOCK_ITEMS, type StoredItem, writeItemsBlock } from '#core/search/items-block.ts'
import { BLOCK_BYTES, createTermsBlockWriter, isBorder, partsOfTermsBlock, STOP_WORD_MARK } from '#core/search/terms-block.ts'
import { createWordsBlockWriter, spellingKey } from '#core/search/words-block.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { PageStream, type SectionPlace } from './page-stream.ts'
import type { PreviousSection } from './previous.ts'
import type { StoredTerms } from './stored-terms.ts'
import { addRenumbered, beginList, createListWriter, type ListWriter, type TermPostings } from './term-postings.ts'

/** Writes a search section: long lists of postings as they come, then the blocks of terms, items and words, the head last. */
export class SectionWriter {
  readonly #stream: PageStream
  readonly #items: ItemBlocks
  readonly #terms: TermBlocks
  readonly #words = new WordBlocks()

  /** @param previous unchanged blocks of items are taken from there */
  constructor(place: SectionPlace, previous: Pick<PreviousSection, 'itemsBlock'> | null = null) {
    this.#stream = new PageStream(place)
    this.#items = new ItemBlocks(previous)
    this.#terms = new TermBlocks(this.#stream)
  }

  /** Adds what results show of an item. Items come in order of their numbers. */
  addItem(item: StoredItem): void {
    this.#items.add(item)
  }

  /** Adds a term. Terms come in byte order of their names. Returns a promise only if the next one has to wait for it. */
  addTerm(postings: TermPostings): Promise<void> | undefined {
    if (postings.isNamed) this.#words.add(postings.term, postings.items)
    return this.#terms.add(postings)
  }

  /**
   * Copies the next term from an earlier section, with the postings of items that have a number in `numbers`; a term without any is left out.
   * Returns `false`, and does nothing, when its list lies outside its block or a block may begin with it here.
   */
  takeTerm(stored: StoredTerms, numbers: Int32Array): boolean {
    const taken = this.#terms.take(stored, numbers)
    if (taken === null) return false
    if (taken.items > 0 && taken.isNamed) this.#words.add(stored.term, taken.items)
    return true
  }

  async finish(
    numbered: Pick<SearchHead, 'kinds' | 'owners' | 'asides' | 'copies' | 'titleLengths'>,
    fingerprints: Uint8Array,
  ): Promise<SearchSection> {
    const stream = this.#stream
    const { list: termList, postingStarts } = this.#terms.finish()
    const postings = Uint32Array.of(...postingStarts, stream.length)
    const terms = await writeBlocks(stream, [termList])
    const items = await writeBlocks(stream, [this.#items.finish()])
    const words = await writeBlocks(stream, this.#words.finish())
    await stream.write(fingerprints)
    const checksums = stream.endPages()
    const head = compress(encodeHead({ ...numbered, terms, postings, items, words, checksums }))
    await stream.write(head)
    return { segments: await stream.end(), headBytes: head.length, headChecksum: crc32(head) }
  }
}

/** Packs items into blocks of `BLOCK_ITEMS`. */
class ItemBlocks {
  readonly #previous: Pick<PreviousSection, 'itemsBlock'> | null
  readonly #list = new BlockList()
  #items: StoredItem[] = []

  /** @param previous unchanged blocks are taken from there: compressing them takes most of the time */
  constructor(previous: Pick<PreviousSection, 'itemsBlock'> | null) {
    this.#previous = previous
  }

  add(item: StoredItem): void {
    if (this.#items.push(item) === BLOCK_ITEMS) this.#close()
  }

  finish(): BlockList {
    if (this.#items.length > 0) this.#close()
    return this.#list
  }

  #close(): void {
    const firstPath = this.#items[0]?.path ?? ''
    const block = writeItemsBlock(this.#items)
    this.#list.add(firstPath, this.#previous?.itemsBlock(firstPath, block) ?? compress(block))
    this.#items = []
  }
}

/** Packs terms into blocks. Short lists of postings lie in the block of their term, longer ones go to the stream. */
class TermBlocks {
  readonly #stream: PageStream
  readonly #list = new BlockList()
  readonly #block = createTermsBlockWriter()
  readonly #taken = createListWriter(this.#block.gaps, this.#block.postings)
  readonly #longList = new ByteWriter()
  readonly #postingStarts: number[] = []
  #firstTerm = ''

  constructor(stream: PageStream) {
    this.#stream = stream
  }

  /** Returns a promise only if the next term has to wait for it. */
  add(postings: TermPostings): Promise<void> | undefined {
    if (this.#endsBefore(postings.term)) this.#close()
    if (this.#block.bytes() === 0) {
      this.#firstTerm = textOf(postings.term)
      this.#postingStarts.push(this.#stream.length)
    }
    return this.#block.add(postings) ? undefined : this.#writeLong(postings)
  }

  /** As `SectionWriter.takeTerm`: the list that was written, which may be empty; `null` when the term cannot be taken. */
  take(stored: StoredTerms, numbers: Int32Array): ListWriter | null {
    if (!stored.isInline || this.#block.bytes() === 0 || this.#endsBefore(stored.term)) return null
    const taken = this.#taken
    beginList(taken)
    addRenumbered(taken, stored.bytes, stored.list, numbers)
    if (taken.items > 0) this.#block.addWritten(stored.term, taken.items)
    return taken
  }

  /** The blocks, and where in the stream the long lists of each block begin. */
  finish(): { list: BlockList; postingStarts: readonly number[] } {
    if (this.#block.bytes() > 0) this.#close()
    return { list: this.#list, postingStarts: this.#postingStarts }
  }

  #endsBefore(next: Bytes): boolean {
    const bytes = this.#block.bytes()
    return bytes >= BLOCK_BYTES.least && (bytes >= BLOCK_BYTES.most || isBorder(next))
  }

  #close(): void {
    this.#list.add(this.#firstTerm, compressParts(partsOfTermsBlock(this.#block.finish())))
  }

  #writeLong({ gaps, postings }: TermPostings): Promise<void> | undefined {
    const list = this.#longList
    list.cut(0)
    list.bytes(gaps.data, 0, gaps.length)
    list.bytes(postings.data, 0, postings.length)
    return this.#stream.write(list.data.subarray(0, list.length))
  }
}

/** Words of a block, which then has about 8 KiB. */
const BLOCK_WORDS = 1_024

/** Packs the words that spelling correction suggests into blocks, by their length in UTF-16 units. */
class WordBlocks {
  readonly #byLength: WordsOfLength[] = []

  /** Adds a term if it is such a word. Terms come in byte order. */
  add(term: Bytes, items: number): void {
    const word = spelledWord(term)
    if (word === null) return
    const words = this.#byLength[word.length] ?? new WordsOfLength()
    this.#byLength[word.length] = words
    words.add(word, term, items)
  }

  /** One list for each length, shortest first. */
  finish(): BlockList[] {
    return Object.values(this.#byLength).map(words => words.finish())
  }
}

class WordsOfLength {
  readonly #list = new BlockList()
  readonly #block = createWordsBlockWriter()
  #firstWord = ''

  add(word: string, term: Bytes, items: number): void {
    if (this.#block.words === 0) this.#firstWord = word
    this.#block.add(term, items)
    if (this.#block.words === BLOCK_WORDS) this.#close()
  }

  finish(): BlockList {
    if (this.#block.words > 0) this.#close()
    return this.#list
  }

  #close(): void {
    this.#list.add(spellingKey(this.#firstWord), compress(this.#block.finish()))
  }
}

/** Length in UTF-16 units of words that spelling correction suggests. */
const SPELLED_UNITS = { min: 4, max: 32 }

/**
 * The term as a word that spelling correction may suggest; `null` for stop words, identifiers with joints, pairs and triples of characters, and
 * words that are too short or too long. Most terms are `null`, so only words are decoded.
 *
 * @param term its name, in UTF-8
 */
export function spelledWord(term: Bytes): string | null {
  const { data, length } = term
  let units = 0
  for (let at = 0; at < length; at++) {
    const byte = data[at] as number
    if (byte >= TWO_UNITS || NO_LETTERS[byte] === 1) return null
    if (byte < CONTINUATION || byte >= LEAD) units++
  }
  return units < SPELLED_UNITS.min || units > SPELLED_UNITS.max ? null : textOf(term)
}

/** The joints of identifiers and the mark of stop words. */
const NO_LETTERS = Uint8Array.from({ length: 256 }, (_, byte) =>
  `-_./:${STOP_WORD_MARK}`.includes(String.fromCharCode(byte)) ? 1 : 0,
)

// Bytes of UTF-8
const CONTINUATION = 0x80
const LEAD = 0xc0
/** Lead byte of a character with two UTF-16 units, which only pairs of rare characters have. */
const TWO_UNITS = 0xf0

/** Compressed blocks in key order, each with its first key. */
class BlockList {
  readonly keys: string[] = []
  readonly blocks: Uint8Array[] = []

  add(firstKey: string, block: Uint8Array): void {
    this.keys.push(firstKey)
    this.blocks.push(block)
  }
}

/** Writes the blocks of all lists one after the other and returns their index. */
async function writeBlocks(stream: PageStream, lists: readonly BlockList[]): Promise<BlockIndex> {
  const starts: number[] = []
  for (const block of lists.flatMap(({ blocks }) => blocks)) {
    starts.push(stream.length)
    const waiting = stream.write(block)
    if (waiting) await waiting
  }
  starts.push(stream.length)
  return { firstKeys: lists.flatMap(({ keys }) => keys), starts: Uint32Array.from(starts) }
}

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
