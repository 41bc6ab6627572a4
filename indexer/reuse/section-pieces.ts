import { PACK_BYTES } from '#core/limits.ts'
import type { Location } from '#core/snapshot/format.ts'
import { locateRange } from '#core/snapshot/segments.ts'
import type { SectionPiece } from '../snapshot/reused-parts.ts'

/** Finds bytes of a new search section in that of an earlier commit. */
export interface PieceFinder {
  /**
   * Cuts the next bytes of the section into pieces, in order: locations of the same bytes in earlier packs, or views of the bytes
   * themselves.
   */
  find(bytes: Uint8Array): SectionPiece[]
}

/** After this many pieces, only long ones are reused: their list is part of the header, so short ones would cost a reader more than they save. */
const PIECES = 12 * 1024
/** Earlier packs that a section may refer to, besides those that its length alone fills: a read may touch each of them. */
const PACKS = 3
/** Minimum bytes per piece: at first, and once there are `PIECES`. */
const PIECE_BYTES = { least: 256, crowded: 16 * 1024 }

/**
 * Finds equal bytes by content-defined anchors: positions at which a rolling hash of the preceding bytes begins with zeros. From an anchor
 * that both sections have, the match is extended in both directions.
 *
 * @param segments the locations of the earlier section
 */
export function createPieceFinder(earlier: Uint8Array, segments: readonly Location[], pieces = PIECES): PieceFinder {
  const anchors = new Map<number, number>()
  visitAnchors(earlier, 0, (hash, end) => {
    if (!anchors.has(hash)) anchors.set(hash, end)
    return end
  })
  const packs = fullestPacks(segments, PACKS + Math.floor(earlier.length / PACK_BYTES))
  let given = 0
  /** The end of the last known piece, in the earlier section. */
  let cursor = -1

  function locate(start: number, length: number): Location[] | null {
    const known = locateRange(segments, { start, end: start + length })
    const { least, crowded } = PIECE_BYTES
    return length >= known.length * (given < pieces ? least : crowded) ? known : null
  }

  return {
    find(bytes) {
      const found: SectionPiece[] = []
      let done = 0
      /** What was compared up to here and is no piece would be compared again from every anchor in it. */
      let compared = 0

      function accept(from: number, start: number, length: number): void {
        compared = start + length
        const known = length === 0 ? null : locate(from, length)
        if (known === null) return
        if (start > done) found.push({ fresh: bytes.subarray(done, start) })
        done = start
        for (const location of known) {
          const piece = bytes.subarray(done, done + location[2])
          found.push(packs.has(location[0]) ? { known: location } : { fresh: piece })
          done += piece.length
        }
        given += known.length + 1
        cursor = from + length
      }

      // What was known up to the end of the bytes before may go on.
      if (cursor >= 0) accept(cursor, 0, commonAfter(earlier, cursor, bytes, 0))
      visitAnchors(bytes, compared, (hash, end) => {
        const same = anchors.get(hash)
        if (same === undefined) return end
        const before = commonBefore(earlier, same, bytes, end, end - done)
        accept(same - before, end - before, before + commonAfter(earlier, same, bytes, end))
        return compared
      })
      if (done < bytes.length) {
        found.push({ fresh: bytes.subarray(done) })
        cursor = -1
      }
      return found
    },
  }
}

/** The `count` packs that hold most of the bytes. */
function fullestPacks(segments: readonly Location[], count: number): ReadonlySet<number> {
  const bytes = new Map<number, number>()
  for (const [pack, , length] of segments) bytes.set(pack, (bytes.get(pack) ?? 0) + length)
  return new Set(
    [...bytes]
      .sort(([, left], [, right]) => right - left)
      .slice(0, count)
      .map(([pack]) => pack),
  )
}

/** A pseudo-random number for each byte. */
const GEAR = (() => {
  let state = 1
  return Uint32Array.from({ length: 256 }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    return Math.imul(state ^ (state >>> 13), 0x297a2d39)
  })
})()

/**
 * Calls `visit` where the hash of the last `HASHED_BYTES` begins with eight zero bits, on average every 256 bytes.
 *
 * @param after the first anchor ends behind this
 * @param visit returns the position behind which the next anchor may end
 */
function visitAnchors(bytes: Uint8Array, after: number, visit: (hash: number, end: number) => number): void {
  let first = Math.max(HASHED_BYTES, after)
  let hash = 0
  for (let at = first - HASHED_BYTES; at < bytes.length; at++) {
    hash = ((hash << 1) + (GEAR[bytes[at] as number] as number)) | 0
    if (hash >>> 24 !== 0 || at < first) continue
    first = visit(hash, at + 1)
    // Nothing of the bytes before is left in the hash by then.
    at = Math.max(at, first - HASHED_BYTES - 1)
  }
}

/** One for each bit of the hash. */
const HASHED_BYTES = 32

function commonAfter(left: Uint8Array, leftStart: number, right: Uint8Array, rightStart: number): number {
  const most = Math.min(left.length - leftStart, right.length - rightStart)
  let common = 0
  while (common < most && left[leftStart + common] === right[rightStart + common]) common++
  return common
}

function commonBefore(left: Uint8Array, leftEnd: number, right: Uint8Array, rightEnd: number, most: number): number {
  const bound = Math.min(most, leftEnd)
  let common = 0
  while (common < bound && left[leftEnd - common - 1] === right[rightEnd - common - 1]) common++
  return common
}
