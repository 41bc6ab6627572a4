import { crc32, gunzipSync, inflateRawSync } from 'node:zlib'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { INLINE_ITEMS } from '#core/search/blocks.ts'
import { decodeHead, FINGERPRINT_BYTES, HEAD_BYTES, PAGE_BYTES, type SearchHead } from '#core/search/head.ts'
import { type CommitSha, SnapshotHeader } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/keys.ts'
import { inTurns } from '../turns.ts'
import { openStoredTerms } from './stored-terms.ts'
import { createTermPostings } from './term-postings.ts'
import { createSource, type TermSource } from './term-source.ts'

/** What an earlier commit knows of items that did not change since. */
export interface PreviousSection {
  /** How many items it has. */
  readonly items: number
  /** The number of the item with this fingerprint, or -1. */
  find(fingerprint: Uint8Array): number
  titleLength(item: number): number
  /** Its terms in byte order, with the postings of the items that have a number in `numbers`, which grow; -1: the item is gone. */
  terms(numbers: Int32Array): TermSource
}

/** Longer sections are not taken over: they would have to be held whole. */
const SECTION_BYTES = 64 * 1024 * 1024
/** What a block of terms unpacks to at most. */
const BLOCK_LIMIT = { maxOutputLength: 64 * 1024 }

/**
 * Reads the section of an earlier commit and checks that every byte of it is as it was written. `null`: there is none, or it is too long,
 * or damaged, or cannot be read now. A build from scratch gives the same section.
 */
export async function openPreviousSection(
  blobs: BlobStore,
  repository: HostRepository,
  commit: CommitSha,
  signal?: AbortSignal,
): Promise<PreviousSection | null> {
  try {
    const stored = await readSection(blobs, repository, commit)
    return stored === null ? null : await inTurns(checkedSection(stored), signal)
  } catch {
    signal?.throwIfAborted()
    return null
  }
}

interface StoredSection {
  /** Everything in front of the head. */
  body: Uint8Array
  head: SearchHead
}

async function readSection(blobs: BlobStore, repository: HostRepository, commit: CommitSha): Promise<StoredSection | null> {
  const object = await blobs.read(headerKey(repository, commit))
  if (object === null) return null
  const { search, packs } = SnapshotHeader.parse(JSON.parse(gunzipSync(object.bytes).toString('utf8')))
  if (search === null) return null
  const sizeBytes = search.segments.reduce((sum, [, , length]) => sum + length, 0)
  if (sizeBytes > SECTION_BYTES) return null

  const bytes = new Uint8Array(sizeBytes)
  let at = 0
  for (const [pack, offset, length] of search.segments) {
    const segment = await blobs.readRange(packKey(repository, packs[pack]?.name ?? ''), offset, length)
    if (segment?.length !== length) return null
    bytes.set(segment, at)
    at += length
  }
  const body = bytes.subarray(0, sizeBytes - search.headBytes)
  const head = bytes.subarray(body.length)
  if (crc32(head) !== search.headChecksum) return null
  return { body, head: decodeHead(inflateRawSync(head, { maxOutputLength: HEAD_BYTES })) }
}

function* checkedSection({ body, head }: StoredSection): Generator<void, PreviousSection | null> {
  const items = head.kinds.length
  const fingerprintsStart = head.words.starts.at(-1) ?? 0
  if (fingerprintsStart + items * FINGERPRINT_BYTES !== body.length) return null
  if (head.checksums.length !== Math.ceil(body.length / PAGE_BYTES)) return null
  for (const [page, checksum] of head.checksums.entries()) {
    if (crc32(body.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES)) !== checksum) return null
    yield
  }
  const fingerprints = createFingerprintTable(body.slice(fingerprintsStart))
  return {
    items,
    find: fingerprints.find,
    titleLength: item => head.titleLengths[item] ?? 0,
    terms: numbers => renumberedTerms(body, head, numbers),
  }
}

/** The terms of a section, with the postings of the items that `numbers` renumbers. */
function renumberedTerms(body: Uint8Array, { terms, postings }: SearchHead, numbers: Int32Array): TermSource {
  const current = createTermPostings()
  let nextTerm = () => false
  let block = 0
  return createSource(current, () => {
    while (!nextTerm()) {
      if (block === terms.firstKeys.length) return false
      const unpacked = inflateRawSync(body.subarray(terms.starts[block], terms.starts[block + 1]), BLOCK_LIMIT)
      const outside = { bytes: body, start: postings[block] ?? 0 }
      nextTerm = openStoredTerms({ block: unpacked, inlineItems: INLINE_ITEMS, outside, numbers }, current)
      block++
    }
    return true
  })
}

/** Items by fingerprint: open addressing by the first bytes, which are as good as random. */
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
