import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Location } from '#core/snapshot/format.ts'
import { createPieceFinder } from '#indexer/snapshot/reuse.ts'
import type { SectionPiece } from '#indexer/snapshot/snapshot-writer.ts'

/** The earlier section in one piece of a pack. */
const inOnePiece = (section: Uint8Array): Location[] => [[3, 1_000, section.length]]

/** The bytes that the pieces stand for, and how many of them are known. */
function join(pieces: readonly SectionPiece[], earlier: Uint8Array, segments: readonly Location[]) {
  let known = 0
  const bytesAt = ([pack, offset, length]: Location) => {
    let before = 0
    for (const [inPack, start, size] of segments) {
      if (inPack === pack && offset >= start && offset + length <= start + size) {
        known += length
        return earlier.subarray(before + offset - start, before + offset - start + length)
      }
      before += size
    }
    throw new Error('a piece lies outside the earlier section')
  }
  const parts = pieces.flatMap(piece => ('fresh' in piece ? [piece.fresh] : [bytesAt(piece.known)]))
  return { bytes: Buffer.concat(parts), known }
}

function findAll(
  next: Uint8Array,
  earlier: Uint8Array,
  segments: readonly Location[],
  chunk: number,
  most?: number,
): SectionPiece[] {
  const finder = createPieceFinder(earlier, segments, most)
  const pieces: SectionPiece[] = []
  for (let at = 0; at < next.length; at += chunk) pieces.push(...finder.find(next.subarray(at, at + chunk)))
  return pieces
}

test('the joined pieces are the bytes, after any change and in any chunks', () => {
  const edit = fc.record({ at: fc.nat(60_000), removed: fc.nat(3_000), added: fc.uint8Array({ maxLength: 3_000 }) })
  fc.assert(
    fc.property(
      fc.array(edit, { maxLength: 6 }),
      fc.integer({ min: 1_000, max: 70_000 }),
      fc.nat(50_000),
      (edits, chunk, cut) => {
        const earlier = randomBytes(60_000)
        const segments: Location[] =
          cut === 0
            ? inOnePiece(earlier)
            : [
                [0, 5, cut],
                [1, 9, earlier.length - cut],
              ]
        const next = edits.reduce<Uint8Array>((bytes, { at, removed, added }) => {
          return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)])
        }, earlier)
        expect(join(findAll(next, earlier, segments, chunk), earlier, segments).bytes).toEqual(Buffer.from(next))
      },
    ),
    { numRuns: 60 },
  )
})

test('unchanged bytes are known except for some around a change', () => {
  const earlier = randomBytes(1_000_000)
  const next = Buffer.from(earlier)
  for (let at = 5_000; at < next.length; at += 100_000) next[at] = (next[at] as number) ^ 1
  const segments = inOnePiece(earlier)
  const { bytes, known } = join(findAll(next, earlier, segments, 256 * 1024), earlier, segments)
  expect(bytes.equals(next)).toBe(true)
  expect(known).toBeGreaterThan(next.length - 10 * 2_000)
})

test('bytes that were moved behind others are known', () => {
  const earlier = randomBytes(400_000)
  const next = Buffer.concat([randomBytes(10_001), earlier.subarray(0, 100_000), randomBytes(77), earlier.subarray(100_000)])
  const segments = inOnePiece(earlier)
  expect(join(findAll(next, earlier, segments, 256 * 1024), earlier, segments).known).toBeGreaterThan(380_000)
})

test('other bytes are unknown, and repetitive ones are known as far as they save space', () => {
  const earlier = randomBytes(100_000)
  expect(findAll(randomBytes(100_000), earlier, inOnePiece(earlier), 65_536).every(piece => 'fresh' in piece)).toBe(true)
  const zeros = new Uint8Array(1_000_000)
  const { bytes } = join(findAll(zeros, zeros, inOnePiece(zeros), 65_536), zeros, inOnePiece(zeros))
  expect(bytes.equals(zeros)).toBe(true)
})

test('a section lies in few packs: what lies in the others becomes new', () => {
  const earlier = randomBytes(120_000)
  const segments = [60, 30, 9, 8, 7, 6].map((share, pack): Location => [pack, 0, share * 1_000])
  const pieces = findAll(earlier, earlier, segments, 50_000)
  expect([...new Set(pieces.flatMap(piece => ('known' in piece ? [piece.known[0]] : [])))].sort()).toEqual([0, 1, 2])
  expect(join(pieces, earlier, segments)).toEqual({ bytes: earlier, known: 99_000 })
})

test('a section does not fall into more and more pieces', () => {
  const earlier = randomBytes(2_000_000)
  const next = Buffer.from(earlier)
  for (let at = 0; at < next.length; at += 1_500) next[at] = (next[at] as number) ^ 1
  const inFew = findAll(next, earlier, inOnePiece(earlier), 256 * 1024, 100)
  const inMany = findAll(next, earlier, inOnePiece(earlier), 256 * 1024)
  expect(inFew.length).toBeLessThan(400)
  expect(inMany.length).toBeGreaterThan(1_000)
  expect(join(inFew, earlier, inOnePiece(earlier)).bytes.equals(next)).toBe(true)
})
