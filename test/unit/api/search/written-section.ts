import { openSection, type SearchReader } from '#api/search/section-reader.ts'
import { createCache } from '#api/snapshot/cache.ts'
import { createPackReader } from '#api/snapshot/pack-reader.ts'
import type { StoredSection } from '#api/snapshot/snapshot-reader.ts'
import { FINGERPRINT_BYTES, ITEM_KIND } from '#core/search/head.ts'
import type { StoredItem } from '#core/search/items-block.ts'
import type { Location, SearchSection } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import { SectionWriter } from '#indexer/search/section-writer.ts'
import { termPostings } from '#test/support/posting-list.ts'

export const MEGABYTE = 1024 * 1024

/** Parts of the section, each somewhere in a pack of its own. */
function packsOf({ bytes }: Written, count: number): { packs: Uint8Array[]; segments: Location[] } {
  const partBytes = Math.ceil(bytes.length / count)
  const packs: Uint8Array[] = []
  const segments: Location[] = []
  for (let start = 0; start < bytes.length; start += partBytes) {
    const part = bytes.slice(start, start + partBytes)
    const offset = 0
    segments.push([packs.length, offset, part.length])
    packs.push(part)
  }
  return { packs, segments }
}

/** Opens the section out of that many packs in memory. */
export function openFrom(written: Written, count: number): Promise<SearchReader> {
  const { packs, segments } = packsOf(written, count)
  const reader = createPackReader({
    async readRange(key, offset, length) {
      return packs[Number(key)]?.slice(offset, offset + length) ?? null
    },
  })
  const section = { ...written.section, segments }
  const read: StoredSection['read'] = ([pack, offset, length]) => reader.read(String(pack), offset, length)
  return openSection({ key: 'section', section, read, cache: createCache(8 * MEGABYTE) })
}

export interface Content {
  items: readonly StoredItem[]
  /** Posting by item number, by term. */
  terms: ReadonlyMap<string, ReadonlyMap<number, number>>
  words: readonly string[]
}

export interface Written {
  bytes: Uint8Array
  section: SearchSection
}

export async function write({ items, terms, words }: Content): Promise<Written> {
  const pieces: Uint8Array[] = []
  const writer = new SectionWriter({
    async addBytes(bytes) {
      pieces.push(bytes)
      return [[0, 0, bytes.length]]
    },
  })
  for (const item of items) writer.addItem(item)
  const named = new Set(words)
  for (const [term, postings] of [...terms].sort(([left], [right]) => compareBytes(left, right))) {
    const sorted = [...postings].sort(([left], [right]) => left - right)
    await writer.addTerm({ ...termPostings(term, sorted), isNamed: named.has(term) })
  }
  const head = {
    kinds: new Uint8Array(items.length).fill(ITEM_KIND.document),
    owners: new Int32Array(items.length).fill(-1),
    asides: new Uint8Array(items.length),
    copies: new Map<number, number>(),
    titleLengths: new Uint8Array(items.length).fill(2),
  }
  const section = await writer.finish(head, new Uint8Array(items.length * FINGERPRINT_BYTES))
  return { bytes: Buffer.concat(pieces), section }
}

/** Items of which each has some of the words, common ones more often. */
export function sectionOf(itemCount: number, wordCount: number): Content {
  const terms = new Map<string, Map<number, number>>()
  const add = (term: string, item: number, posting: number) => {
    const postings = terms.get(term) ?? new Map<number, number>()
    terms.set(term, postings.set(item, posting))
  }
  const items = Array.from({ length: itemCount }, (_, index) => ({
    path: index < 3 ? `a/${index}.md` : index > itemCount - 3 ? `c/${index}.md` : `b/f${index % 7}/file${index}.md`,
    title: `Title ${index}`,
    summary: `Summary of ${index}`,
    text: index % 2 === 0 ? ([0, index, 1] as Location) : null,
  })).sort((left, right) => compareBytes(left.path, right.path))
  let random = 1
  for (const item of items.keys()) {
    add('common', item, 3 + (item % 100))
    for (let word = 0; word < 100; word++) {
      random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0
      add(`word${Math.floor((random / 2 ** 32) ** 2 * wordCount)}`, item, 3 + (random % 250))
    }
  }
  for (const [index, word] of [
    'kettle',
    'kettles',
    'kettledrum',
    'kettledrums',
    'wordagains',
    '独',
    '独一',
    '水一',
    '水二',
    '水三',
  ].entries()) {
    add(word, index, 100)
  }
  for (let pair = 0; pair < 40; pair++) {
    for (let item = 0; item <= pair % 5; item++) add(`山${String.fromCharCode(0x5000 + pair)}`, pair + item, 50)
  }
  return { items, terms, words: [...terms.keys()].filter(term => /^[a-z]+\d*$/.test(term) && term.length >= 4) }
}
