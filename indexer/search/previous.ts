import { crc32, inflateRawSync } from 'node:zlib'
import { runYielding } from '#core/concurrency/yielding.ts'
import { decodeHead, FINGERPRINT_BYTES, HEAD_BYTES, PAGE_BYTES, type SearchHead } from '#core/search/head.ts'
import { INLINE_ITEMS } from '#core/search/terms-block.ts'
import { DamagedBytes } from '#core/snapshot/damage.ts'
import type { EarlierSnapshot } from '../snapshot/earlier-snapshot.ts'
import { StoredTerms } from './stored-terms.ts'

/** The search section of an earlier commit, as a source of unchanged items. */
export interface PreviousSection {
  /** The number of its items. */
  readonly items: number
  /** The number of the item with this fingerprint, or -1. */
  find(fingerprint: Uint8Array): number
  titleLength(item: number): number
  /** Its terms in byte order of their names, block by block. */
  terms(): Iterable<StoredTerms>
  /** The compressed block of items that unpacks to these bytes; `null` when there is none. */
  itemsBlock(firstPath: string, bytes: Uint8Array): Uint8Array | null
}

/** Maximum and usual size of an unpacked block of terms. */
const BLOCK_LIMIT = { maxOutputLength: 64 * 1024, chunkSize: 26 * 1024 }

/**
 * Opens the search section of an earlier snapshot and verifies its checksums. `null` when there is none, or it is damaged or unreadable: a
 * build from scratch gives the same section.
 */
export async function openPreviousSection(earlier: EarlierSection | null, signal?: AbortSignal): Promise<PreviousSection | null> {
  try {
    const stored = await readSection(earlier)
    return stored === null ? null : await runYielding(checkedSection(stored), signal)
  } catch (error) {
    signal?.throwIfAborted()
    earlier?.lost(error)
    return null
  }
}

type EarlierSection = Pick<EarlierSnapshot, 'header' | 'section' | 'lost'>

interface StoredSection {
  /** All bytes before the head. */
  body: Uint8Array
  head: SearchHead
}

async function readSection(earlier: EarlierSection | null): Promise<StoredSection | null> {
  const search = earlier?.header.search
  const bytes = await earlier?.section()
  if (!search || !bytes) return null
  const body = bytes.subarray(0, bytes.length - search.headBytes)
  const head = bytes.subarray(body.length)
  if (crc32(head) !== search.headChecksum) throw new DamagedBytes('the head is damaged: its checksum does not match')
  return { body, head: decodeHead(inflateRawSync(head, { maxOutputLength: HEAD_BYTES })) }
}

function* checkedSection({ body, head }: StoredSection): Generator<void, PreviousSection> {
  const items = head.kinds.length
  const fingerprintsStart = head.words.starts.at(-1) ?? 0
  if (fingerprintsStart + items * FINGERPRINT_BYTES !== body.length)
    throw new DamagedBytes(`${items} fingerprints do not fill the section`)
  if (head.checksums.length !== Math.ceil(body.length / PAGE_BYTES))
    throw new DamagedBytes(`${head.checksums.length} checksums for ${body.length} bytes`)
  for (const [page, checksum] of head.checksums.entries()) {
    if (crc32(body.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES)) !== checksum)
      throw new DamagedBytes(`page ${page} is damaged: its checksum does not match`)
    yield
  }
  const fingerprints = createFingerprintTable(body.slice(fingerprintsStart))
  return {
    items,
    find: fingerprints.find,
    titleLength: item => head.titleLengths[item] ?? 0,
    terms: () => storedTerms(body, head),
    itemsBlock: createItemsBlocks(body, head),
  }
}

function createItemsBlocks(body: Uint8Array, { items }: SearchHead): PreviousSection['itemsBlock'] {
  const blocks = new Map(items.firstKeys.map((path, block) => [path, block]))
  return (firstPath, bytes) => {
    const block = blocks.get(firstPath)
    if (block === undefined) return null
    const packed = body.subarray(items.starts[block], items.starts[block + 1])
    return unpacksTo(bytes, packed) ? packed : null
  }
}

/** Whether the packed block unpacks to these bytes. It is unpacked no further than their length. */
function unpacksTo(bytes: Uint8Array, packed: Uint8Array): boolean {
  try {
    const limits = { maxOutputLength: Math.max(1, bytes.length), chunkSize: Math.max(64, bytes.length + 1) }
    return inflateRawSync(packed, limits).equals(bytes)
  } catch {
    return false
  }
}

function* storedTerms(body: Uint8Array, { terms, postings }: SearchHead): Generator<StoredTerms> {
  for (let block = 0; block < terms.firstKeys.length; block++) {
    const packed = body.subarray(terms.starts[block], terms.starts[block + 1])
    const { buffer, byteOffset, length } = inflateRawSync(packed, BLOCK_LIMIT)
    yield new StoredTerms({
      // Always Uint8Array, never Buffer: the merge loops take 10 % longer with two classes.
      block: new Uint8Array(buffer, byteOffset, length),
      inlineItems: INLINE_ITEMS,
      outside: { bytes: body, start: postings[block] ?? 0 },
    })
  }
}

/** A hash table of items by fingerprint, with open addressing by its first three bytes. */
function createFingerprintTable(fingerprints: Uint8Array): { find(fingerprint: Uint8Array): number } {
  const items = fingerprints.length / FINGERPRINT_BYTES
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * items + 1)))
  const slotOf = (bytes: Uint8Array, at: number) =>
    ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)) % slots.length

  for (let item = 0; item < items; item++) {
    let slot = slotOf(fingerprints, item * FINGERPRINT_BYTES)
    while (slots[slot] !== 0) slot = (slot + 1) % slots.length
    slots[slot] = item + 1
  }

  function isAt(item: number, fingerprint: Uint8Array): boolean {
    for (let byte = 0; byte < FINGERPRINT_BYTES; byte++) {
      if (fingerprints[item * FINGERPRINT_BYTES + byte] !== fingerprint[byte]) return false
    }
    return true
  }

  return {
    find(fingerprint) {
      for (let slot = slotOf(fingerprint, 0); slots[slot] !== 0; slot = (slot + 1) % slots.length) {
        const item = (slots[slot] as number) - 1
        if (isAt(item, fingerprint)) return item
      }
      return -1
    },
  }
}
