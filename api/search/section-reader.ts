import { crc32, inflateRawSync } from 'node:zlib'
import { type BlockIndex, decodeHead, HEAD_BYTES, type SearchHead } from '#core/search/head.ts'
import { BLOCK_ITEMS, openItemsBlock, type StoredItem } from '#core/search/items-block.ts'
import { nameOfTerm, termOfName } from '#core/search/term-name.ts'
import type { FoundTerm } from '#core/search/terms-block.ts'
import type { SpellingEntry } from '#core/search/words-block.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { locateRange, sizeOfSegments } from '#core/snapshot/segments.ts'
import { compareBytes } from '#core/text.ts'
import { lastIndexWhere } from '../snapshot/bisect.ts'
import { type Loaded, ownBytes } from '../snapshot/cache.ts'
import type { Snapshot, StoredSection } from '../snapshot/snapshot-reader.ts'
import { orUnavailable } from '../snapshot/unavailable.ts'
import { findNearWords, findTerms, type TermWish } from './block-scan.ts'
import type { Interval } from './folding.ts'
import { type CheckedFile, openPages, openWhole, type Range } from './pages.ts'
import { COMPLETION_UNITS, editsOf } from './spelling.ts'

/**
 * The search section of a snapshot. Every read is one round, and throws ServiceError `skill.unavailable` when bytes are missing or damaged.
 * What is read stays in memory as it is stored; what is made of it does not.
 */
export interface SearchReader {
  readonly head: SearchHead
  /** The items below a folder: paths are sorted, so they are neighbours. At most two blocks are read. */
  itemsBelow(folder: string): Promise<Interval>
  /** For every wish the term itself, or else, where longer ones will do, at most `CONTINUATIONS` that begin with it, the most frequent ones. */
  lookUp(wishes: readonly TermWish[]): Promise<DictionaryTerm[][]>
  /** For every misspelled word all words that it may mean, and a few more. */
  wordsNear(misspelled: readonly string[]): Promise<SpellingEntry[][]>
  /** The postings of every term as `visitPostings` takes them. */
  postings(terms: readonly DictionaryTerm[]): Promise<Uint8Array[]>
  /** Items by number. */
  items(numbers: Iterable<number>): Promise<Map<number, StoredItem>>
}

export interface DictionaryTerm {
  term: string
  /** How many items have it. */
  items: number
  /** The list itself where it stands in the dictionary, or where it lies. */
  postings: Uint8Array | Range
}

/** A section of at most this many bytes is read whole. */
const WHOLE_BYTES = 1024 * 1024
/** What a block may unpack to, 32 items with the longest paths, titles and summaries in the longest spelling; and what nearly all do. */
const UNPACKED_BLOCK = { maxOutputLength: 1024 * 1024, chunkSize: 26 * 1024 }
const CONTINUATIONS = 16

/** The search section of a snapshot, with its head read; `null` when the snapshot has none. Throws as the reads of `Snapshot` do. */
export async function openSearch({ section }: Pick<Snapshot, 'section'>): Promise<SearchReader | null> {
  if (section === null) return null
  const reader = await section.watch(() => openSection(section))
  return {
    head: reader.head,
    itemsBelow: folder => section.watch(() => reader.itemsBelow(folder)),
    lookUp: wishes => section.watch(() => reader.lookUp(wishes)),
    wordsNear: words => section.watch(() => reader.wordsNear(words)),
    postings: terms => section.watch(() => reader.postings(terms)),
    items: numbers => section.watch(() => reader.items(numbers)),
  }
}

/**
 * Opens a section in one round, which reads the head, or all of a small section; none when it is cached.
 *
 * @throws ServiceError `skill.unavailable`
 */
export async function openSection(stored: Omit<StoredSection, 'watch'>): Promise<SearchReader> {
  const { key, section, cache, read } = stored
  const { head, whole } = await orUnavailable(`the head of ${key}`, () => {
    return cache.get(`${key} head`, () => loadSection(stored))
  })
  const file =
    whole ??
    openPages(cache, {
      key,
      sizeBytes: sizeOfSegments(section.segments) - section.headBytes,
      checksums: head.checksums,
      read: range => readRange(section, read, range),
    })
  return createReader(key, head, file)
}

interface OpenSection {
  head: SearchHead
  /** What stands in front of the head, of a small section. */
  whole: CheckedFile | null
}

async function loadSection({ section, read }: Pick<StoredSection, 'section' | 'read'>): Promise<Loaded<OpenSection>> {
  const { segments, headBytes, headChecksum } = section
  const sizeBytes = sizeOfSegments(segments)
  const headStart = sizeBytes - headBytes
  const start = sizeBytes <= WHOLE_BYTES ? 0 : headStart
  const bytes = await readRange(section, read, { start, end: sizeBytes })
  const packedHead = bytes.subarray(headStart - start)
  if (crc32(packedHead) !== headChecksum) throw new Error('its bytes are damaged')
  const head = decodeHead(inflateRawSync(packedHead, { maxOutputLength: HEAD_BYTES }))
  if (start > 0) return { value: { head, whole: null }, size: sizeOfHead(head) }
  const body = ownBytes(bytes).subarray(0, headStart)
  return { value: { head, whole: openWhole(body, head.checksums) }, size: sizeOfHead(head) + body.length }
}

/** The bytes of a range as they are stored: of two packs when it crosses a border. */
async function readRange({ segments }: SearchSection, read: StoredSection['read'], range: Range): Promise<Uint8Array> {
  const parts = await Promise.all(locateRange(segments, range).map(read))
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
}

/** Bytes of memory, as estimated. */
function sizeOfHead({ kinds, owners, titleLengths, postings, checksums, ...indexes }: SearchHead): number {
  const numbers = [kinds, owners, titleLengths, postings, checksums].reduce((sum, { byteLength }) => sum + byteLength, 0)
  return [indexes.terms, indexes.items, indexes.words].reduce((sum, { firstKeys, starts }) => {
    return sum + starts.byteLength + firstKeys.reduce((keys, key) => keys + STRING_BYTES + key.length, 0)
  }, numbers)
}

/** What a string takes beside its characters. */
const STRING_BYTES = 32

function createReader(key: string, head: SearchHead, file: CheckedFile): SearchReader {
  const guarded = <Value>(what: string, read: () => Promise<Value>) => orUnavailable(`${what} of ${key}`, read)

  /** Blocks by number, in order. Numbers that the index does not have are left out. */
  async function readBlocks<Block>(
    { firstKeys, starts }: BlockIndex,
    numbers: Iterable<number>,
    parse: (bytes: Uint8Array) => Block,
  ): Promise<Map<number, Block>> {
    const wanted = [...new Set(numbers)].filter(number => number >= 0 && number < firstKeys.length).sort((a, b) => a - b)
    const packed = await file.read(wanted.map(number => ({ start: starts[number] ?? 0, end: starts[number + 1] ?? 0 })))
    return new Map(wanted.map((number, index) => [number, parse(unpackBlock(packed[index] ?? NO_BYTES))]))
  }

  return {
    head,

    itemsBelow: folder =>
      guarded('the items below a folder', async () => {
        if (folder === '') return [0, head.kinds.length]
        // `0` is the character behind `/`.
        const borders = [`${folder}/`, `${folder}0`].map(path => ({ path, block: lastBlockUpTo(head.items, path) }))
        const blocks = await readBlocks(
          head.items,
          borders.map(({ block }) => block),
          openItemsBlock,
        )
        const [from = 0, to = 0] = borders.map(({ path, block: number }) => {
          const block = blocks.get(number)
          if (block === undefined) return 0
          const isBefore = (place: number) => compareBytes(block.at(place).path, path) < 0
          return number * BLOCK_ITEMS + lastIndexWhere(block.items, isBefore) + 1
        })
        return [from, to]
      }),

    lookUp: wishes =>
      guarded('terms', async () => {
        const names = wishes.map(({ term }) => nameOfTerm(term))
        const places = wishes.map(({ orLonger }, index) => {
          const block = lastBlockUpTo(head.terms, names[index] ?? '')
          return orLonger ? [block, block + 1] : [block]
        })
        const blocks = await readBlocks(head.terms, places.flat(), block => block)
        return wishes.map(({ term, orLonger }, index) => {
          const found = (places[index] ?? []).flatMap(number => {
            const block = blocks.get(number)
            const entries = block === undefined ? [] : findTerms(block, { term: names[index] ?? '', orLonger })
            return entries.map(entry => placed(head, number, entry))
          })
          if (found[0]?.term === term) return found.slice(0, 1)
          return found.toSorted((left, right) => right.items - left.items).slice(0, CONTINUATIONS)
        })
      }),

    wordsNear: misspelled =>
      guarded('words', async () => {
        const places = misspelled.map(word => wordBlocksNear(head.words, word))
        const blocks = await readBlocks(head.words, places.flat(), block => block)
        return misspelled.map((word, index) => {
          const near = (places[index] ?? []).flatMap(number => blocks.get(number) ?? [])
          return near.flatMap(block => findNearWords(block, word, editsOf(word)))
        })
      }),

    postings: terms =>
      guarded('postings', () =>
        file.read(terms.map(({ postings }) => (postings instanceof Uint8Array ? NO_RANGE : postings))),
      ).then(lists =>
        terms.map(({ postings }, index) => (postings instanceof Uint8Array ? postings : (lists[index] ?? NO_BYTES))),
      ),

    items: numbers =>
      guarded('items', async () => {
        const wanted = [...new Set(numbers)]
        const blocks = await readBlocks(
          head.items,
          wanted.map(number => Math.floor(number / BLOCK_ITEMS)),
          openItemsBlock,
        )
        return new Map(
          wanted.map(number => {
            const item = blocks.get(Math.floor(number / BLOCK_ITEMS))?.at(number % BLOCK_ITEMS)
            if (item === undefined) throw new RangeError(`there is no item ${number}`)
            return [number, item]
          }),
        )
      }),
  }
}

const NO_BYTES = new Uint8Array(0)
const NO_RANGE: Range = { start: 0, end: 0 }

function unpackBlock(packed: Uint8Array): Uint8Array {
  return inflateRawSync(packed, UNPACKED_BLOCK)
}

/** A term of a block with the place of its postings in the section. */
function placed(head: SearchHead, block: number, { term: name, items, postings }: FoundTerm): DictionaryTerm {
  const term = termOfName(name)
  if (postings instanceof Uint8Array) return { term, items, postings }
  const listsStart = head.postings[block] ?? 0
  return { term, items, postings: { start: listsStart + postings.start, end: listsStart + postings.end } }
}

/** The only block that may hold the key, and the one in which larger keys begin; -1 when the key is before all of them. */
function lastBlockUpTo({ firstKeys }: BlockIndex, key: string): number {
  return lastIndexWhere(firstKeys.length, index => compareBytes(firstKeys[index] ?? '', key) <= 0)
}

function firstBlockFrom({ firstKeys }: BlockIndex, key: string): number {
  return lastIndexWhere(firstKeys.length, index => compareBytes(firstKeys[index] ?? '', key) < 0) + 1
}

/** Blocks of words of one length that are looked at for continuations. */
const COMPLETION_BLOCKS = 2

/** Words of about its length stand anywhere; its continuations stand together in each group of longer words. A block holds words of one length. */
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

/** Comes before the key of every word of the length, and behind those of all shorter ones. */
function keyOfLength(length: number): string {
  return String.fromCharCode(length)
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
}
