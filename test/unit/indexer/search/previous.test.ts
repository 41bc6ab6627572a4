import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { textOf } from '#core/search/bytes.ts'
import type { CommitSha, SnapshotHeader } from '#core/snapshot/format.ts'
import { packKey } from '#core/snapshot/keys.ts'
import { createSearchBuilder } from '#indexer/search/builder.ts'
import { fingerprintOf } from '#indexer/search/fingerprint.ts'
import type { SearchInput } from '#indexer/search/input.ts'
import { openPreviousSection } from '#indexer/search/previous.ts'
import { createSnapshotWriter } from '#indexer/snapshot-writer.ts'
import { createMemoryBlobStore } from '#infra/memory/blob-store.ts'
import { systemClock } from '#infra/system/clock.ts'
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

test('items are known by everything of them that is searched', async () => {
  const { blobs } = await store()
  const previous = await openPreviousSection(blobs, SEARCHED_REPOSITORY, COMMIT)
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

test('the terms of items that are gone are gone, and items have their new numbers', async () => {
  const { blobs } = await store()
  const previous = await openPreviousSection(blobs, SEARCHED_REPOSITORY, COMMIT)
  const terms = previous?.terms(Int32Array.of(-1, 4, 9))
  const byTerm = new Map<string, { items: number; first: number; last: number }>()
  for (terms?.next(); terms?.current; terms.next()) {
    const { term, items, first, last } = terms.current
    byTerm.set(textOf(term), { items, first, last })
  }
  expect(byTerm.get('zebra')).toEqual({ items: 2, first: 4, last: 9 })
  expect(byTerm.get('b.md')).toEqual({ items: 1, first: 4, last: 4 })
  expect(byTerm.has('a.md')).toBe(false)
})

test('there is none where nothing is stored or a pack is missing', async () => {
  expect(await openPreviousSection(createMemoryBlobStore(systemClock), SEARCHED_REPOSITORY, COMMIT)).toBeNull()
  const { blobs: without, header } = await store()
  await without.remove(packKey(SEARCHED_REPOSITORY, header.packs[0]?.name ?? ''))
  expect(await openPreviousSection(without, SEARCHED_REPOSITORY, COMMIT)).toBeNull()
})

test('any damaged byte is noticed', async () => {
  const { blobs, header } = await store()
  const [, offset, length] = header.search?.segments[0] ?? [0, 0, 0]
  await fc.assert(
    fc.asyncProperty(fc.nat(length - 1), fc.integer({ min: 1, max: 255 }), async (position, change) => {
      const damaged: BlobStore = {
        ...blobs,
        async readRange(...range) {
          const bytes = Uint8Array.from((await blobs.readRange(...range)) ?? [])
          const at = offset + position - range[1]
          bytes[at] = (bytes[at] as number) ^ change
          return bytes
        },
      }
      expect(await openPreviousSection(damaged, SEARCHED_REPOSITORY, COMMIT)).toBeNull()
    }),
    { numRuns: 200 },
  )
})

test('bytes that end too early are noticed', async () => {
  const { blobs } = await store()
  const short: BlobStore = { ...blobs, readRange: async (...range) => (await blobs.readRange(...range))?.subarray(1) ?? null }
  expect(await openPreviousSection(short, SEARCHED_REPOSITORY, COMMIT)).toBeNull()
})
