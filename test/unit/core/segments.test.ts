import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeHeader, type Location, SnapshotHeader, TABLES } from '#core/snapshot/format.ts'
import { appendSegment, locateRange, sizeOfSegments } from '#core/snapshot/segments.ts'
import { FORMAT_VERSION, RULES_VERSION } from '#core/snapshot/versions.ts'
import { EMPTY_ROOT } from '#test/support/search-section.ts'

const segments = fc.array(
  fc.tuple(fc.nat(5), fc.nat(2 ** 23), fc.integer({ min: 1, max: 2 ** 23 })).map((parts): Location => parts),
  { minLength: 1, maxLength: 40 },
)

function headerWith(all: Location[]): SnapshotHeader {
  const empty = { rows: 0, shards: [] }
  const names = Object.keys(TABLES)
  return {
    format: FORMAT_VERSION,
    rules: RULES_VERSION,
    repositoryId: 'local-1',
    commit: 'c'.repeat(40),
    truncated: false,
    packs: [],
    usedBytes: 0,
    tables: Object.fromEntries(names.map(name => [name, empty])) as unknown as SnapshotHeader['tables'],
    search: { segments: all, headBytes: 1, headChecksum: 0 },
    root: EMPTY_ROOT,
  }
}

test('a header is decoded unchanged, for any segments', () => {
  fc.assert(
    fc.property(segments, all => {
      const header = headerWith(all)
      expect(SnapshotHeader.parse(JSON.parse(JSON.stringify(encodeHeader(header))))).toEqual(header)
    }),
  )
})

test('adjacent segments in a pack are joined, and every range keeps its location', () => {
  fc.assert(
    fc.property(segments, fc.nat(2 ** 25), fc.nat(2 ** 22), (all, start, length) => {
      const joined: Location[] = []
      for (const segment of all) appendSegment(joined, segment)
      for (const segment of [
        [7, 0, 5],
        [7, 5, 9],
      ] as Location[])
        appendSegment(joined, segment)
      expect(joined.at(-1)).toEqual([7, 0, 14])
      expect(sizeOfSegments(joined)).toBe(sizeOfSegments(all) + 14)
      const located = locateRange(joined, { start, end: start + length })
      expect(sizeOfSegments(located)).toBe(Math.max(0, Math.min(length, sizeOfSegments(joined) - start)))
    }),
  )
})
