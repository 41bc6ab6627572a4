import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { FINGERPRINT_BYTES } from '#core/search/head.ts'
import type { SnapshotHeader } from '#core/snapshot/format.ts'
import { createSearchBuilder, fingerprintOf } from '#indexer/search/builder.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import { openPreviousSection } from '#indexer/search/previous.ts'
import { SectionWriter } from '#indexer/search/section-writer.ts'
import { openEarlierSnapshot } from '#indexer/snapshot/earlier-snapshot.ts'
import { createSnapshotWriter } from '#indexer/snapshot/snapshot-writer.ts'
import { createMemoryBlobStore } from '#infra/memory-stores.ts'
import { systemClock } from '#infra/system/system.ts'
import { EMPTY_ROOT, SEARCHED_REPOSITORY } from '#test/support/search-section.ts'

const COMMIT = 'c'.repeat(40) as CommitSha

const item = (path: string, body: string): SearchInput => ({
  path,
  kind: 'document',
  owner: null,
  title: `The page ${path}`,
  summary: '',
  text: null,
  fields: { body },
})
const ITEMS = ['a.md', 'b.md', 'c.md'].map(path => item(path, `${path} and zebra and orchard`))

async function store(): Promise<{ blobs: BlobStore; header: SnapshotHeader }> {
  const blobs = createMemoryBlobStore(systemClock)
  const writer = createSnapshotWriter(blobs, SEARCHED_REPOSITORY, COMMIT)
  const builder = createSearchBuilder(writer)
  for (const each of ITEMS) await builder.add(each)
  const search = await builder.finish()
  const { header } = await writer.finish({ truncated: false, search, root: EMPTY_ROOT })
  return { blobs, header }
}

test('items are identified by everything of them that is searched', async () => {
  const { blobs } = await store()
  const previous = await openPreviousSection(await openEarlierSnapshot(blobs, SEARCHED_REPOSITORY, COMMIT))
  expect(previous?.items).toBe(3)
  expect(ITEMS.map(each => previous?.find(fingerprintOf(each)))).toEqual([0, 1, 2])
  expect(previous?.titleLength(1)).toBe(4)
  const [first] = ITEMS as [SearchInput]
  const changes: Partial<SearchInput>[] = [
    { path: 'd.md' },
    { kind: 'supporting' },
    { title: 'Other' },
    { summary: 'Other' },
    { fields: {} },
    ...(['name', 'description', 'keywords', 'headings', 'body', 'blob'] as const).map(field => ({
      fields: { ...first.fields, [field]: 'other' },
    })),
  ]
  for (const change of changes) expect(previous?.find(fingerprintOf({ ...first, ...change }))).toBe(-1)
  expect(previous?.find(fingerprintOf({ ...first, text: [1, 2, 3] }))).toBe(0)
})

test('any damaged byte is noticed and reported, and a truncated section too', async () => {
  let losses = 0
  const lost = () => {
    losses++
  }
  const { blobs, header } = await store()
  const section = (await (await openEarlierSnapshot(blobs, SEARCHED_REPOSITORY, COMMIT))?.section()) ?? new Uint8Array()
  expect(await openPreviousSection({ header, section: async () => section, lost })).not.toBeNull()
  await fc.assert(
    fc.asyncProperty(fc.nat(section.length - 1), fc.integer({ min: 1, max: 255 }), async (position, change) => {
      const damaged = Uint8Array.from(section)
      damaged[position] = (damaged[position] as number) ^ change
      expect(await openPreviousSection({ header, section: async () => damaged, lost })).toBeNull()
    }),
    { numRuns: 200 },
  )
  expect(await openPreviousSection({ header, section: async () => section.subarray(1), lost })).toBeNull()
  expect(losses).toBe(201)
})

test.each([
  ['are no block', Buffer.from('no block at all')],
  ['unpack to more than any block', deflateRawSync(Buffer.alloc(256 * 1024 * 1024))],
])('items that were forged so that they %s are packed again', async (_, block) => {
  const blobs = createMemoryBlobStore(systemClock)
  const writer = createSnapshotWriter(blobs, SEARCHED_REPOSITORY, COMMIT)
  const section = new SectionWriter(writer, { itemsBlock: () => block })
  section.addItem({ path: 'a.md', title: 'A', summary: '', text: null })
  const search = await section.finish(
    {
      kinds: Uint8Array.of(2),
      owners: Int32Array.of(-1),
      asides: Uint8Array.of(0),
      copies: new Map(),
      titleLengths: Uint8Array.of(1),
    },
    new Uint8Array(FINGERPRINT_BYTES),
  )
  await writer.finish({ truncated: false, search, root: EMPTY_ROOT })
  const previous = await openPreviousSection(await openEarlierSnapshot(blobs, SEARCHED_REPOSITORY, COMMIT))
  const before = process.resourceUsage().maxRSS
  expect(previous?.items).toBe(1)
  expect(previous?.itemsBlock('a.md', new Uint8Array(64))).toBeNull()
  expect(process.resourceUsage().maxRSS - before).toBeLessThan(64 * 1024)
})
