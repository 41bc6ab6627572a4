import { type Bytes, ByteWriter, textOf } from '#core/search/bytes.ts'
import { BLOCK_BYTES, createTermsBlockWriter, isBorder, partsOfTermsBlock } from '#core/search/terms-block.ts'
import { BlockList } from './block-list.ts'
import { compressParts } from './compress.ts'
import type { PageStream } from './page-stream.ts'
import type { StoredTerms } from './stored-terms.ts'
import { addRenumbered, beginList, createListWriter, type ListWriter, type TermPostings } from './term-postings.ts'

/** Packs terms into blocks. Short lists of postings lie in the block of their term, longer ones go to the stream. */
export class TermBlocks {
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

  /** Wait for the promise, where there is one. */
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
