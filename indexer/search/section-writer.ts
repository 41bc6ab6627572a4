import { crc32 } from 'node:zlib'
import { type Bytes, ByteWriter, textOf } from '#core/search/bytes.ts'
import { type BlockIndex, encodeHead, PAGE_BYTES, type SearchHead } from '#core/search/head.ts'
import { BLOCK_ITEMS, type StoredItem, writeItemsBlock } from '#core/search/items-block.ts'
import { BLOCK_BYTES, createTermsBlockWriter, isBorder, partsOfTermsBlock } from '#core/search/terms-block.ts'
import { createWordsBlockWriter, spellingKey, type WordsBlockWriter } from '#core/search/words-block.ts'
import type { Location, SearchSection } from '#core/snapshot/format.ts'
import { compress, compressParts } from './compress.ts'
import type { PreviousSection } from './previous.ts'
import { spelledWord } from './spelled-word.ts'
import type { StoredTerms } from './stored-terms.ts'
import { addRenumbered, beginList, createListWriter, type TermPostings } from './term-postings.ts'

/** Where a section goes: bytes behind those that came before. Answers where they lie, in one piece or in several. */
export interface SectionPlace {
  addBytes(bytes: Uint8Array): Promise<Location[]>
}

/** Writes a section from its items and its terms: postings as they come, then what was gathered meanwhile, the head last. */
export interface SectionWriter {
  /** Takes what is shown of an item; items come in order of their numbers. */
  addItem(item: StoredItem): void
  /** Takes a term; terms come in byte order of their names. Wait for the promise, where there is one. */
  addTerm(postings: TermPostings): Promise<void> | undefined
  /**
   * Takes the next term straight from an earlier section, with the postings of items that have a number in `numbers`: with none it is left out.
   * `false`, and nothing is done, where it stands outside of its block or may begin one here.
   */
  takeTerm(stored: StoredTerms, numbers: Int32Array): boolean
  finish(items: Pick<SearchHead, 'kinds' | 'owners' | 'titleLengths'>, fingerprints: Uint8Array): Promise<SearchSection>
}

/** Words of a block, which then has about 8 KiB. */
const BLOCK_WORDS = 1_024

/** @param previous where blocks that did not change are taken from: packing is most of what they take */
export function createSectionWriter(
  place: SectionPlace,
  previous: Pick<PreviousSection, 'itemsBlock'> | null = null,
): SectionWriter {
  const stream = createPageStream(place)
  const list = new ByteWriter()

  const itemBlocks = createBlockList()
  let items: StoredItem[] = []

  const termBlocks = createBlockList()
  const terms = createTermsBlockWriter()
  const taken = createListWriter(terms.gaps, terms.postings)
  const postingStarts: number[] = []
  let firstTerm = ''

  const wordBlocks: { blocks: BlockList; firstWord: string; words: WordsBlockWriter }[] = []

  function closeItems(): void {
    const firstPath = items[0]?.path ?? ''
    const block = writeItemsBlock(items)
    itemBlocks.add(firstPath, previous?.itemsBlock(firstPath, block) ?? compress(block))
    items = []
  }

  function writeList({ gaps, postings }: TermPostings): Promise<void> | undefined {
    list.cut(0)
    list.bytes(gaps.data, 0, gaps.length)
    list.bytes(postings.data, 0, postings.length)
    return stream.write(list.data.subarray(0, list.length))
  }

  function addWord(term: Bytes, items: number): void {
    const word = spelledWord(term)
    if (word === null) return
    wordBlocks[word.length] ??= { blocks: createBlockList(), firstWord: '', words: createWordsBlockWriter() }
    const group = wordBlocks[word.length] as (typeof wordBlocks)[number]
    if (group.words.words === 0) group.firstWord = word
    group.words.add(term, items)
    if (group.words.words === BLOCK_WORDS) closeWords(group)
  }

  function closeWords({ blocks, firstWord, words }: (typeof wordBlocks)[number]): void {
    blocks.add(spellingKey(firstWord), compress(words.finish()))
  }

  function endsBlock(next: Bytes): boolean {
    const bytes = terms.bytes()
    return bytes >= BLOCK_BYTES.least && (bytes >= BLOCK_BYTES.most || isBorder(next))
  }

  function closeTerms(): void {
    termBlocks.add(firstTerm, compressParts(partsOfTermsBlock(terms.finish())))
  }

  return {
    addItem(item) {
      if (items.push(item) === BLOCK_ITEMS) closeItems()
    },

    addTerm(postings) {
      const { term, items, isNamed } = postings
      if (isNamed) addWord(term, items)
      if (endsBlock(term)) closeTerms()
      if (terms.bytes() === 0) {
        firstTerm = textOf(term)
        postingStarts.push(stream.length)
      }
      return terms.add(postings) ? undefined : writeList(postings)
    },

    takeTerm(stored, numbers) {
      if (!stored.isInline || terms.bytes() === 0 || endsBlock(stored.term)) return false
      beginList(taken)
      addRenumbered(taken, stored.bytes, stored.list, numbers)
      if (taken.items === 0) return true
      terms.addWritten(stored.term, taken.items)
      if (taken.isNamed) addWord(stored.term, taken.items)
      return true
    },

    async finish({ kinds, owners, titleLengths }, fingerprints) {
      if (terms.bytes() > 0) closeTerms()
      if (items.length > 0) closeItems()
      for (const group of Object.values(wordBlocks)) if (group.words.words > 0) closeWords(group)

      const postings = Uint32Array.of(...postingStarts, stream.length)
      const termIndex = await writeBlocks(stream, [termBlocks])
      const itemIndex = await writeBlocks(stream, [itemBlocks])
      const wordIndex = await writeBlocks(
        stream,
        Object.values(wordBlocks).map(({ blocks }) => blocks),
      )
      await stream.write(fingerprints)
      const checksums = stream.endPages()
      const head = compress(
        encodeHead({ kinds, owners, titleLengths, terms: termIndex, postings, items: itemIndex, words: wordIndex, checksums }),
      )
      await stream.write(head)
      const segments = await stream.end()
      return { segments, headBytes: head.length, headChecksum: crc32(head) }
    },
  }
}

/** Compressed blocks and their first keys. */
interface BlockList {
  readonly keys: readonly string[]
  readonly blocks: readonly Uint8Array[]
  add(firstKey: string, block: Uint8Array): void
}

function createBlockList(): BlockList {
  const keys: string[] = []
  const blocks: Uint8Array[] = []
  return {
    keys,
    blocks,
    add(firstKey, block) {
      keys.push(firstKey)
      blocks.push(block)
    },
  }
}

async function writeBlocks(stream: PageStream, lists: readonly BlockList[]): Promise<BlockIndex> {
  const starts: number[] = []
  for (const { blocks } of lists) {
    for (const block of blocks) {
      starts.push(stream.length)
      const waiting = stream.write(block)
      if (waiting) await waiting
    }
  }
  starts.push(stream.length)
  return { firstKeys: lists.flatMap(({ keys }) => keys), starts: Uint32Array.from(starts) }
}

/** Bytes on their way, a few pages at a time, and the checksums of the pages. */
interface PageStream {
  /** Bytes written so far. */
  readonly length: number
  write(bytes: Uint8Array): Promise<void> | undefined
  /** The checksums of all pages up to here; what follows belongs to none. */
  endPages(): Uint32Array
  /** Where all of it lies. */
  end(): Promise<Location[]>
}

const STREAM_BYTES = 64 * PAGE_BYTES

function createPageStream(place: SectionPlace): PageStream {
  const segments: Location[] = []
  const checksums: number[] = []
  let buffer = new Uint8Array(STREAM_BYTES)
  let buffered = 0
  let sent = 0
  let isPaged = true

  function addChecksums(): void {
    if (!isPaged) return
    for (let at = 0; at < buffered; at += PAGE_BYTES) {
      checksums.push(crc32(buffer.subarray(at, Math.min(buffered, at + PAGE_BYTES))))
    }
  }

  async function send(): Promise<void> {
    const bytes = buffer.subarray(0, buffered)
    sent += buffered
    // The bytes now belong to the pack that they lie in.
    buffer = new Uint8Array(STREAM_BYTES)
    buffered = 0
    for (const [pack, offset, length] of await place.addBytes(bytes)) {
      const last = segments.at(-1)
      if (last && last[0] === pack && last[1] + last[2] === offset) last[2] += length
      else segments.push([pack, offset, length])
    }
  }

  /** Fills the buffer with the beginning of the bytes; how many of them. */
  function take(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, STREAM_BYTES - buffered)
    buffer.set(bytes.subarray(0, taken), buffered)
    buffered += taken
    return taken
  }

  async function writeOver(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      at += take(bytes.subarray(at))
      if (buffered < STREAM_BYTES) continue
      addChecksums()
      await send()
    }
  }

  return {
    get length() {
      return sent + buffered
    },
    write(bytes) {
      if (buffered + bytes.length >= STREAM_BYTES) return writeOver(bytes)
      take(bytes)
      return undefined
    },
    endPages() {
      addChecksums()
      isPaged = false
      return Uint32Array.from(checksums)
    },
    async end() {
      if (buffered > 0) await send()
      return segments
    },
  }
}
