import { crc32, inflateRawSync } from 'node:zlib'
import { NO_BYTES } from '#core/search/bytes.ts'
import { type BlockIndex, decodeHead, HEAD_BYTES, type SearchHead } from '#core/search/head.ts'
import { BLOCK_ITEMS, type ItemsBlockReader, openItemsBlock, type StoredItem } from '#core/search/items-block.ts'
import { type FoundTerm, nameOfTerm, termOfName } from '#core/search/terms-block.ts'
import type { SpellingEntry } from '#core/search/words-block.ts'
import { DamagedBytes } from '#core/snapshot/damage.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { locateRange, sizeOfSegments } from '#core/snapshot/segments.ts'
import { compareBytes } from '#core/text.ts'
import { lastIndexWhere } from '../snapshot/bisect.ts'
import { type Loaded, ownBytes } from '../snapshot/cache.ts'
import type { Snapshot, StoredSection } from '../snapshot/snapshot-reader.ts'
import { orUnavailable } from '../snapshot/unavailable.ts'
import { findNearWords, findTerms, type TermWish } from './block-scan.ts'
import type { Interval } from './folding.ts'
import { type CheckedFile, openBytes, openPages, type Range } from './pages.ts'
import { COMPLETION_UNITS, editsOf } from './spelling.ts'

/**
 * Reads the search section of a snapshot. Every method is one round of reads and throws ServiceError `skill.unavailable` when bytes are
 * missing or damaged. The stored bytes are cached; the values parsed from them are not.
 */
export interface SearchReader {
  readonly head: SearchHead
  /** The items below a folder: an interval, since items are numbered in path order. Reads at most two blocks. */
  itemsBelow(folder: string): Promise<Interval>
  /**
   * For every wish the term itself. If it is absent and the wish accepts longer terms, the most frequent terms that begin with it, at most
   * `CONTINUATIONS`.
   */
  lookUp(wishes: readonly TermWish[]): Promise<DictionaryTerm[][]>
  /**
   * For every misspelled word the candidates for `closeWords`: all words within its edit distance, longer words that begin with it, from at
   * most `COMPLETION_BLOCKS` blocks of each length, and the other words of the blocks that were read.
   */
  wordsNear(misspelled: readonly string[]): Promise<SpellingEntry[][]>
  /** The postings of every term as `visitPostings` takes them. */
  postings(terms: readonly DictionaryTerm[]): Promise<Uint8Array[]>
  /** Items by number. */
  items(numbers: Iterable<number>): Promise<Map<number, StoredItem>>
}

/** A term of the section. */
export interface DictionaryTerm {
  term: string
  /** How many items have the term. */
  items: number
  /** The list of postings if it is stored in the dictionary, else its place in the section. */
  postings: Uint8Array | Range
}

/** A section of at most this many bytes is read in one piece. */
const SINGLE_READ_BYTES = 1024 * 1024
/** 32 items with the longest paths, titles and summaries fit into `maxOutputLength`; nearly all blocks fit into one chunk. */
const UNPACK_OPTIONS = { maxOutputLength: 1024 * 1024, chunkSize: 26 * 1024 }
const CONTINUATIONS = 16

/**
 * Opens the search section of a snapshot and reads its head; `null` when the snapshot has no section.
 *
 * @throws what the reads of `Snapshot` throw
 */
export async function openSearch({ section }: Pick<Snapshot, 'section'>): Promise<SearchReader | null> {
  if (section === null) return null
  const reader = await section.withDamageCheck(() => openSection(section))
  return {
    head: reader.head,
    itemsBelow: folder => section.withDamageCheck(() => reader.itemsBelow(folder)),
    lookUp: wishes => section.withDamageCheck(() => reader.lookUp(wishes)),
    wordsNear: words => section.withDamageCheck(() => reader.wordsNear(words)),
    postings: terms => section.withDamageCheck(() => reader.postings(terms)),
    items: numbers => section.withDamageCheck(() => reader.items(numbers)),
  }
}

/**
 * Opens a section. Reads its head in one round, or all of a small section; nothing if it is cached.
 *
 * @throws ServiceError `skill.unavailable`
 */
export async function openSection(stored: Omit<StoredSection, 'withDamageCheck'>): Promise<SearchReader> {
  const { key, section, cache, read } = stored
  const { head, body } = await orUnavailable(`the head of ${key}`, () => {
    return cache.get(`${key} head`, () => loadSection(stored))
  })
  const file =
    body ??
    openPages(cache, {
      key,
      sizeBytes: sizeOfSegments(section.segments) - section.headBytes,
      checksums: head.checksums,
      read: range => readRange(section, read, range),
    })
  return new BlockReader(key, head, file)
}

interface OpenSection {
  head: SearchHead
  /** The bytes before the head, if the section was read in one piece. */
  body: CheckedFile | null
}

async function loadSection({ section, read }: Pick<StoredSection, 'section' | 'read'>): Promise<Loaded<OpenSection>> {
  const { segments, headBytes, headChecksum } = section
  const sizeBytes = sizeOfSegments(segments)
  const headStart = sizeBytes - headBytes
  const start = sizeBytes <= SINGLE_READ_BYTES ? 0 : headStart
  const bytes = await readRange(section, read, { start, end: sizeBytes })
  const packedHead = bytes.subarray(headStart - start)
  if (crc32(packedHead) !== headChecksum) throw new DamagedBytes('the head is damaged: its checksum does not match')
  const head = decodeHead(inflateRawSync(packedHead, { maxOutputLength: HEAD_BYTES }))
  if (start > 0) return { value: { head, body: null }, sizeBytes: sizeOfHead(head) }
  const body = ownBytes(bytes).subarray(0, headStart)
  return { value: { head, body: openBytes(body, head.checksums) }, sizeBytes: sizeOfHead(head) + body.length }
}

/** The stored bytes of a range, joined when it lies in several segments. */
async function readRange({ segments }: SearchSection, read: StoredSection['read'], range: Range): Promise<Uint8Array> {
  const parts = await Promise.all(locateRange(segments, range).map(read))
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
}

/** The estimated memory of a head, in bytes. */
function sizeOfHead({ kinds, owners, asides, copies, titleLengths, postings, checksums, ...indexes }: SearchHead): number {
  const numbers = [kinds, owners, asides, titleLengths, postings, checksums].reduce(
    (sum, { byteLength }) => sum + byteLength,
    copies.size * MAP_ENTRY_BYTES,
  )
  return [indexes.terms, indexes.items, indexes.words].reduce((sum, { firstKeys, starts }) => {
    return sum + starts.byteLength + firstKeys.reduce((keys, key) => keys + STRING_BYTES + key.length, 0)
  }, numbers)
}

/** Memory of a pair of numbers in a map. */
const MAP_ENTRY_BYTES = 48
/** Memory of a string beside its characters. */
const STRING_BYTES = 32

class BlockReader implements SearchReader {
  readonly head: SearchHead
  readonly #key: string
  readonly #file: CheckedFile

  constructor(key: string, head: SearchHead, file: CheckedFile) {
    this.#key = key
    this.head = head
    this.#file = file
  }

  itemsBelow(folder: string): Promise<Interval> {
    return this.#guard('the items below a folder', async () => {
      if (folder === '') return [0, this.head.kinds.length]
      // `0` is the character after `/`.
      const [first, end] = [`${folder}/`, `${folder}0`]
      const blocks = await this.#itemBlocks([first, end].map(path => lastBlockUpTo(this.head.items, path)))
      return [this.#firstItemFrom(first, blocks), this.#firstItemFrom(end, blocks)]
    })
  }

  lookUp(wishes: readonly TermWish[]): Promise<DictionaryTerm[][]> {
    return this.#guard('terms', async () => {
      const places = wishes.map(wish => termBlocksOf(this.head.terms, wish))
      const blocks = await this.#blocks(this.head.terms, places.flat(), block => block)
      return wishes.map((wish, index) => {
        const found = (places[index] ?? []).flatMap(number => this.#termsIn(blocks.get(number), number, wish))
        if (found[0]?.term === wish.term) return found.slice(0, 1)
        return found.toSorted((left, right) => right.items - left.items).slice(0, CONTINUATIONS)
      })
    })
  }

  wordsNear(misspelled: readonly string[]): Promise<SpellingEntry[][]> {
    return this.#guard('words', async () => {
      const places = misspelled.map(word => wordBlocksNear(this.head.words, word))
      const blocks = await this.#blocks(this.head.words, places.flat(), block => block)
      return misspelled.map((word, index) => {
        const near = (places[index] ?? []).flatMap(number => blocks.get(number) ?? [])
        return near.flatMap(block => findNearWords(block, word, editsOf(word)))
      })
    })
  }

  postings(terms: readonly DictionaryTerm[]): Promise<Uint8Array[]> {
    return this.#guard('postings', async () => {
      const lists = await this.#file.read(terms.map(({ postings }) => (postings instanceof Uint8Array ? NO_RANGE : postings)))
      return terms.map(({ postings }, index) => (postings instanceof Uint8Array ? postings : (lists[index] ?? NO_BYTES)))
    })
  }

  items(numbers: Iterable<number>): Promise<Map<number, StoredItem>> {
    return this.#guard('items', async () => {
      const wanted = [...new Set(numbers)]
      const blocks = await this.#itemBlocks(wanted.map(number => Math.floor(number / BLOCK_ITEMS)))
      return new Map(wanted.map(number => [number, itemIn(blocks, number)]))
    })
  }

  #guard<Value>(what: string, read: () => Promise<Value>): Promise<Value> {
    return orUnavailable(`${what} of ${this.#key}`, read)
  }

  /** Parsed blocks by number. Numbers that the index does not have are left out. */
  async #blocks<Block>(
    { firstKeys, starts }: BlockIndex,
    numbers: Iterable<number>,
    parse: (bytes: Uint8Array) => Block,
  ): Promise<Map<number, Block>> {
    const wanted = [...new Set(numbers)].filter(number => number >= 0 && number < firstKeys.length).sort((a, b) => a - b)
    const packed = await this.#file.read(wanted.map(number => ({ start: starts[number] ?? 0, end: starts[number + 1] ?? 0 })))
    return new Map(wanted.map((number, index) => [number, parse(unpackBlock(packed[index] ?? NO_BYTES))]))
  }

  #itemBlocks(numbers: Iterable<number>): Promise<ItemBlocks> {
    return this.#blocks(this.head.items, numbers, openItemsBlock)
  }

  /** The number of the first item whose path is `path` or greater. */
  #firstItemFrom(path: string, blocks: ItemBlocks): number {
    const number = lastBlockUpTo(this.head.items, path)
    const block = blocks.get(number)
    if (block === undefined) return 0
    const isBefore = (place: number) => compareBytes(block.at(place).path, path) < 0
    return number * BLOCK_ITEMS + lastIndexWhere(block.items, isBefore) + 1
  }

  #termsIn(block: Uint8Array | undefined, number: number, { term, orLonger }: TermWish): DictionaryTerm[] {
    if (block === undefined) return []
    const entries = findTerms(block, { term: nameOfTerm(term), orLonger })
    return entries.map(entry => locateTerm(this.head, number, entry))
  }
}

type ItemBlocks = ReadonlyMap<number, ItemsBlockReader>

/** @throws DamagedBytes when the block does not have the item that the head counts */
function itemIn(blocks: ItemBlocks, number: number): StoredItem {
  const item = blocks.get(Math.floor(number / BLOCK_ITEMS))?.at(number % BLOCK_ITEMS)
  if (item === undefined) throw new DamagedBytes(`there is no item ${number}`)
  return item
}

/** The blocks that can hold the term; terms that begin with it can reach into the next block. */
function termBlocksOf(index: BlockIndex, { term, orLonger }: TermWish): number[] {
  const block = lastBlockUpTo(index, nameOfTerm(term))
  return orLonger ? [block, block + 1] : [block]
}

const NO_RANGE: Range = { start: 0, end: 0 }

function unpackBlock(packed: Uint8Array): Uint8Array {
  return inflateRawSync(packed, UNPACK_OPTIONS)
}

/** The term of a block with the place of its postings in the section. */
function locateTerm(head: SearchHead, block: number, { term: name, items, postings }: FoundTerm): DictionaryTerm {
  const term = termOfName(name)
  if (postings instanceof Uint8Array) return { term, items, postings }
  const listsStart = head.postings[block] ?? 0
  return { term, items, postings: { start: listsStart + postings.start, end: listsStart + postings.end } }
}

/** The last block whose first key is not greater: the only one that can hold the key. -1 when the key lies before all blocks. */
function lastBlockUpTo({ firstKeys }: BlockIndex, key: string): number {
  return lastIndexWhere(firstKeys.length, index => compareBytes(firstKeys[index] ?? '', key) <= 0)
}

/** The first block that begins with the key or a greater one. */
function firstBlockFrom({ firstKeys }: BlockIndex, key: string): number {
  return lastIndexWhere(firstKeys.length, index => compareBytes(firstKeys[index] ?? '', key) < 0) + 1
}

/** How many blocks of each word length are searched for continuations. */
const COMPLETION_BLOCKS = 2

/**
 * The blocks that can hold words close to a word. A block holds words of one length: similar words can be in any block of about the length of
 * the word, its continuations are neighbours in each group of longer words.
 */
function wordBlocksNear(index: BlockIndex, word: string): number[] {
  const least = word.length - editsOf(word)
  const most = word.length + editsOf(word)
  const longest = word.length + COMPLETION_UNITS
  const numbers = range(firstBlockFrom(index, keyOfLength(least)), firstBlockFrom(index, keyOfLength(most + 1)))
  for (let length = most + 1; length <= longest; length++) {
    const begin = keyOfLength(length) + word
    const from = Math.max(firstBlockFrom(index, keyOfLength(length)), lastBlockUpTo(index, begin))
    const to = Math.min(firstBlockFrom(index, begin + LAST_CHARACTER), from + COMPLETION_BLOCKS)
    numbers.push(...range(from, to))
  }
  return numbers
}

const LAST_CHARACTER = '\u{10ffff}'

/** Lies before the keys of all words of the length, and after those of all shorter words. */
function keyOfLength(length: number): string {
  return String.fromCharCode(length)
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
}
