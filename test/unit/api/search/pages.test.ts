import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CheckedFile, openBytes, openPages, type Range } from '#api/search/pages.ts'
import { createCache } from '#api/snapshot/cache.ts'
import { PAGE_BYTES } from '#core/search/head.ts'
import { locateRange } from '#core/snapshot/segments.ts'

const FILE = Uint8Array.from({ length: 10 * PAGE_BYTES + 123 }, (_, index) => (index * 7919) % 253)

function checksumsOf(bytes: Uint8Array): Uint32Array {
  return Uint32Array.from({ length: Math.ceil(bytes.length / PAGE_BYTES) }, (_, page) => {
    return crc32(bytes.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES))
  })
}

function opened(stored: Uint8Array = FILE, maxBytes = 1024 * 1024) {
  const reads: Range[] = []
  const cache = createCache(maxBytes)
  const file = openPages(cache, {
    key: 'file',
    sizeBytes: FILE.length,
    checksums: checksumsOf(FILE),
    async read(range) {
      reads.push(range)
      return stored.subarray(range.start, range.end)
    },
  })
  return { file, reads, cache }
}

test('any ranges give the bytes of the file, in memory or read by pages', async () => {
  const { file } = opened()
  const whole = openBytes(FILE, checksumsOf(FILE))
  const position = fc.integer({ min: 0, max: FILE.length })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(position, position), { maxLength: 5 }), async pairs => {
      const ranges = pairs.map(([left, right]) => ({ start: Math.min(left, right), end: Math.max(left, right) }))
      const right = ranges.map(({ start, end }) => Buffer.from(FILE.subarray(start, end)))
      expect((await file.read(ranges)).map(bytes => Buffer.from(bytes))).toEqual(right)
      expect((await whole.read(ranges)).map(bytes => Buffer.from(bytes))).toEqual(right)
    }),
    { numRuns: 60 },
  )
})

test('the cache keeps its bound, and evicted pages are read again', async () => {
  const { file, reads, cache } = opened(FILE, 3 * (PAGE_BYTES + 256))
  await file.read([{ start: 0, end: FILE.length }])
  expect(cache.sizeBytes).toBeLessThanOrEqual(3 * (PAGE_BYTES + 256))
  expect(reads).toHaveLength(11)
  await file.read([{ start: 0, end: 1 }])
  expect(reads).toHaveLength(12)
})

test('a changed byte in a page makes every range of the page fail, and the page is not cached', async () => {
  const damaged = FILE.slice()
  const flip = (at: number) => {
    damaged[at] = (damaged[at] ?? 0) ^ 1
  }
  const { file } = opened(damaged)
  flip(2 * PAGE_BYTES + 4_000)
  await expect(file.read([{ start: 2 * PAGE_BYTES, end: 2 * PAGE_BYTES + 1 }])).rejects.toThrow('page 2 is damaged')
  expect(await file.read([{ start: 0, end: 2 * PAGE_BYTES }])).toEqual([Buffer.from(FILE.subarray(0, 2 * PAGE_BYTES))])
  expect(() => openBytes(damaged, checksumsOf(FILE))).toThrow('page 2 is damaged')
  flip(2 * PAGE_BYTES + 4_000)
  expect(await file.read([{ start: 2 * PAGE_BYTES, end: 2 * PAGE_BYTES + 1 }])).toEqual([
    FILE.slice(2 * PAGE_BYTES, 2 * PAGE_BYTES + 1),
  ])
})

test.for<[string, Range]>([
  ['behind the end', { start: FILE.length, end: FILE.length + 1 }],
  ['before the beginning', { start: -1, end: 1 }],
  ['backwards', { start: 9, end: 8 }],
])('a range %s is refused', async ([, range]) => {
  const files: CheckedFile[] = [opened().file, openBytes(FILE, checksumsOf(FILE))]
  for (const file of files) await expect(file.read([range])).rejects.toThrow(RangeError)
})

test('a file needs exactly one checksum a page', () => {
  expect(() => openBytes(FILE, checksumsOf(FILE).subarray(1))).toThrow(RangeError)
  expect(() => openBytes(FILE.subarray(0, 10 * PAGE_BYTES), checksumsOf(FILE))).toThrow(RangeError)
})

test('a range over several segments lies in several packs', () => {
  const segments: [number, number, number][] = [
    [3, 100, 10],
    [4, 0, 5],
    [5, 7, 20],
  ]
  expect(locateRange(segments, { start: 0, end: 35 })).toEqual(segments)
  expect(locateRange(segments, { start: 9, end: 16 })).toEqual([
    [3, 109, 1],
    [4, 0, 5],
    [5, 7, 1],
  ])
  expect(locateRange(segments, { start: 10, end: 15 })).toEqual([[4, 0, 5]])
  expect(locateRange(segments, { start: 15, end: 15 })).toEqual([])
})
