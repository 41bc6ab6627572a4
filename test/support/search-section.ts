import { inflateRawSync } from 'node:zlib'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { textOf } from '#core/search/bytes.ts'
import { type BlockIndex, decodeHead, type SearchHead } from '#core/search/head.ts'
import { openItemsBlock, type StoredItem } from '#core/search/items-block.ts'
import { visitPostings } from '#core/search/postings.ts'
import { currentList, type FoundTerm, openTermsBlock, termOfName } from '#core/search/terms-block.ts'
import { openWordsBlock, type SpellingEntry } from '#core/search/words-block.ts'
import type { SearchSection, SnapshotHeader } from '#core/snapshot/format.ts'
import { packKey } from '#core/snapshot/store-keys.ts'

/** Whose snapshots are made from searched items alone. */
export const SEARCHED_REPOSITORY: HostRepository = {
  host: 'local',
  owner: 'acme',
  name: 'search',
  id: '1',
  visibility: 'public',
  defaultBranch: 'main',
  description: null,
  avatar: null,
}

/** What a mount of such a snapshot shows. */
export const EMPTY_ROOT: SnapshotHeader['root'] = {
  folder: { counts: { skills: 0, documents: 0 }, license: { kind: 'none', name: null, source: null } },
  skills: [],
  documents: [],
  diagnostics: [],
}

/** A search section read whole, with everything that is in it. */
export interface ReadSection {
  bytes: Uint8Array
  head: SearchHead
  items: (StoredItem & { kind: number; owner: number; titleLength: number })[]
  /** By term, in the order in which they are stored. */
  terms: Map<string, { item: number; posting: number }[]>
  words: SpellingEntry[]
}

/** Reads a section without any of the reader's or the builder's code. */
export async function readSection(
  blobs: BlobStore,
  repository: HostRepository,
  { packs }: Pick<SnapshotHeader, 'packs'>,
  { segments, headBytes }: SearchSection,
): Promise<ReadSection> {
  const pieces: Uint8Array[] = []
  for (const [pack, offset, length] of segments) {
    const piece = await blobs.readRange(packKey(repository, packs[pack]?.name ?? ''), offset, length)
    if (piece?.length !== length) throw new Error('a segment is not there')
    pieces.push(piece)
  }
  const bytes = Buffer.concat(pieces)
  const head = decodeHead(inflateRawSync(bytes.subarray(bytes.length - headBytes)))
  const blocksOf = ({ starts }: BlockIndex) =>
    [...starts.subarray(1)].map((end, block) => inflateRawSync(bytes.subarray(starts[block], end)))

  const terms: ReadSection['terms'] = new Map()
  for (const [block, inflated] of blocksOf(head.terms).entries()) {
    for (const { term, items, postings } of readTermsBlock(inflated)) {
      const outside = bytes.subarray(head.postings[block])
      const list = postings instanceof Uint8Array ? postings : outside.subarray(postings.start, postings.end)
      const found: { item: number; posting: number }[] = []
      visitPostings(list, items, head.kinds.length, (item, posting) => found.push({ item, posting }))
      terms.set(termOfName(term), found)
    }
  }
  return {
    bytes,
    head,
    terms,
    items: blocksOf(head.items)
      .flatMap(readItemsBlock)
      .map((record, item) => ({
        ...record,
        kind: head.kinds[item] as number,
        owner: head.owners[item] as number,
        titleLength: head.titleLengths[item] as number,
      })),
    words: blocksOf(head.words).flatMap(readWordsBlock),
  }
}

/** All terms of a block, in order. */
export function readTermsBlock(block: Uint8Array): FoundTerm[] {
  const { texts, lists } = openTermsBlock(block)
  const terms: FoundTerm[] = []
  while (texts.next()) {
    lists.next()
    terms.push({ term: textOf(texts.text), items: lists.count, postings: currentList(block, lists) })
  }
  lists.end()
  return terms
}

/** All items of a block, in order. */
export function readItemsBlock(block: Uint8Array): StoredItem[] {
  const { items, at } = openItemsBlock(block)
  return Array.from({ length: items }, (_, place) => at(place))
}

/** All words of a block, in order. */
export function readWordsBlock(block: Uint8Array): SpellingEntry[] {
  const { texts, counts } = openWordsBlock(block)
  const words: SpellingEntry[] = []
  while (texts.next()) words.push({ word: textOf(texts.text), items: counts.varint() })
  if (!counts.atEnd) throw new RangeError('more counts than words')
  return words
}
