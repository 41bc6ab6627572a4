import { crc32 } from 'node:zlib'
import { encodeHead, type SearchHead } from '#core/search/head.ts'
import type { StoredItem } from '#core/search/items-block.ts'
import type { SearchSection } from '#core/snapshot/format.ts'
import { writeBlocks } from './block-list.ts'
import { compress } from './compress.ts'
import { ItemBlocks } from './item-blocks.ts'
import { PageStream, type SectionPlace } from './page-stream.ts'
import type { PreviousSection } from './previous.ts'
import type { StoredTerms } from './stored-terms.ts'
import { TermBlocks } from './term-blocks.ts'
import type { TermPostings } from './term-postings.ts'
import { WordBlocks } from './word-blocks.ts'

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

  /** Adds a term. Terms come in byte order of their names. Wait for the promise, where there is one. */
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
