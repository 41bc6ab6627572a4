import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { PACK_BYTES } from '#core/limits.ts'
import type { BlobSelection, RepositoryReader } from '#core/ports/git-host.ts'
import { DamagedBytes } from '#core/snapshot/damage.ts'
import type { Location, SnapshotHeader, TableName } from '#core/snapshot/format.ts'
import { locateRange, sizeOfSegments } from '#core/snapshot/segments.ts'
import type { EarlierReadings } from './earlier-readings.ts'
import type { EarlierSnapshot } from './earlier-snapshot.ts'
import type { RepositoryTree } from './repository-tree.ts'
import type { ReusedParts, SectionPiece } from './snapshot-writer.ts'

/*
 * An earlier snapshot saves the next one three things: fetching blobs from the host, reading and parsing Markdown, and storing bytes that its
 * packs hold already.
 * What is reused is compared: the bytes themselves, or of a known text its checksum and the name of the pack around it. So the new snapshot answers the
 * same whatever it was built on.
 *
 * 1. `selectUnheld` tells the host which blobs not to fetch.
 * 2. `reuseEarlier` takes the tree that was read with that selection. It returns the tree to work on and the parts for the snapshot writer.
 */

/** The selection without the blobs that the earlier snapshot knows. */
export function selectUnheld(selection: BlobSelection, earlier: EarlierSnapshot | null): BlobSelection {
  if (earlier === null) return selection
  return { ...selection, heldAmong: async oids => new Set(oids.filter(oid => earlier.blobs.has(oid))) }
}

/** A tree whose blobs are read from an earlier snapshot where that has them. */
export interface ReusingTree {
  /** The same entries, with the sizes that the earlier snapshot knows. */
  tree: RepositoryTree
  /** `parts.record` and `parts.unread` follow what was read from `tree`. */
  parts: ReusedParts
}

/**
 * Joins the tree from the host with what the earlier snapshot stored.
 *
 * @param earlier `null`: nothing is reused
 * @param read the tree as the host returned it
 * @param readings what the earlier snapshot says of its Markdown texts
 * @param options.noteSizes store the sizes of blobs that were not read, so that the next job need not ask the host for them
 */
export function reuseEarlier(
  earlier: EarlierSnapshot | null,
  readings: EarlierReadings,
  read: RepositoryTree,
  { noteSizes }: { noteSizes: boolean },
): ReusingTree {
  const records = createEarlierRecords(earlier)
  const unread = new Map<string, number>()
  const entries = read.entries.map(entry => {
    const sizeBytes = entry.sizeBytes ?? earlier?.blobs.get(entry.oid)?.sizeBytes ?? null
    if (sizeBytes !== null) unread.set(entry.oid, sizeBytes)
    return { ...entry, sizeBytes }
  })
  const source = earlier && isWorthReusing(earlier, oid => unread.has(oid)) ? earlier : null

  async function* readNoted(oids: Iterable<string>, maxBytes: number) {
    const wanted = [...oids]
    for (const oid of wanted) unread.delete(oid)
    yield* readBlobs(records, read, wanted, maxBytes)
  }

  return {
    tree: {
      entries,
      read: readNoted,
      known: {
        has: readings.has,
        find: readings.find,
        hold: async (oid, crc32) => source !== null && (await records.hold(oid, crc32)),
      },
    },
    parts: {
      ...(source === null ? NO_PARTS : partsOf(source, records, readings)),
      *unread() {
        if (!noteSizes) return
        for (const [oid, sizeBytes] of unread) if (!source?.blobs.has(oid)) yield [oid, sizeBytes]
      },
    },
  }
}

type StoredParts = Omit<ReusedParts, 'unread'>

const NO_PARTS: StoredParts = {
  packs: [],
  record: () => null,
  readings: [],
  hasReading: () => false,
  shard: async () => null,
  pieces: async bytes => [{ fresh: bytes }],
}

function partsOf(source: EarlierSnapshot, records: EarlierRecords, readings: EarlierReadings): StoredParts {
  let finder: Promise<PieceFinder | null> | null = null
  return {
    packs: source.header.packs,
    record: records.verified,
    readings: readings.members,
    hasReading: readings.has,

    async shard(table, firstKey, bytes) {
      const location = findShard(source.header, table, firstKey)
      // The checksum tells most changed shards without unpacking them.
      if (location === null || !(await source.holds(location, crc32(bytes)))) return null
      const stored = await source.member(location, bytes.length)
      return stored && Buffer.compare(stored, bytes) === 0 ? location : null
    },

    async pieces(bytes) {
      finder ??= openPieceFinder(source)
      return (await finder)?.find(bytes) ?? [{ fresh: bytes }]
    },
  }
}

function findShard({ tables }: SnapshotHeader, table: TableName, firstKey: string): Location | null {
  return tables[table].shards.find(([key]) => key === firstKey)?.[2] ?? null
}

async function openPieceFinder(source: EarlierSnapshot): Promise<PieceFinder | null> {
  const section = await source.section()
  return section && createPieceFinder(section, source.header.search?.segments ?? [])
}

/** The records of an earlier snapshot as a source of blobs. */
interface EarlierRecords {
  has(oid: string): boolean
  /** The bytes of a blob, checked against its id; `null` when its pack is gone or damaged. */
  read(oid: string): Promise<Uint8Array | null>
  /** Whether the record of a blob can be referred to without being unpacked: the pack around it is whole, and it ends with this CRC-32. */
  hold(oid: string, crc32: number): Promise<boolean>
  /** From here on `has` returns `false`. */
  giveUp(): void
  /** The location of a record that `read` returned or `hold` found; else `null`. */
  verified(oid: string): Location | null
}

function createEarlierRecords(earlier: EarlierSnapshot | null): EarlierRecords {
  const verified = new Map<string, Location>()
  let source = earlier
  return {
    has: oid => source?.blobs.get(oid)?.record != null,
    async read(oid) {
      const { sizeBytes = 0, record = null } = source?.blobs.get(oid) ?? {}
      const bytes = record && (await source?.member(record, sizeBytes))
      if (!record || !bytes) return null
      if (blobIdOf(bytes) !== oid) {
        source?.lost(new DamagedBytes(`the record of the blob ${oid} has other bytes`))
        return null
      }
      verified.set(oid, record)
      return bytes
    },
    async hold(oid, crc32) {
      const record = source?.blobs.get(oid)?.record ?? null
      if (source === null || record === null) return false
      const isHeld = await source.holds(record, crc32)
      if (isHeld) verified.set(oid, record)
      return isHeld
    },
    giveUp() {
      source = null
    },
    verified: oid => verified.get(oid) ?? null,
  }
}

/** Reads blobs in the order of `oids`: from the records where they have them, else from the host. Answers as `RepositoryReader.read` does. */
async function* readBlobs(
  records: EarlierRecords,
  host: Pick<RepositoryReader, 'read'>,
  oids: readonly string[],
  maxBytes: number,
): AsyncGenerator<Blob> {
  // Decided once: a concurrent read may give the records up meanwhile.
  const held = new Set(oids.filter(records.has))
  const unheld = oids.filter(oid => !held.has(oid))
  const fetched = host.read(unheld, maxBytes)[Symbol.asyncIterator]()
  try {
    for (const [index, oid] of oids.entries()) {
      if (!held.has(oid)) {
        yield (await fetched.next()).value as Blob
        continue
      }
      const bytes = await records.read(oid)
      if (bytes === null) {
        // The store lost or damaged a pack: the host answers from here on.
        records.giveUp()
        yield* host.read(oids.slice(index), maxBytes)
        return
      }
      yield { oid, bytes: bytes.length > maxBytes ? null : bytes }
    }
    // To its end, so that the next reading goes on with the same process of git.
    if (unheld.length > 0) await fetched.next()
  } finally {
    await fetched.return?.()
  }
}

type Blob = { oid: string; bytes: Uint8Array | null }

/** The id that git gives a blob. */
function blobIdOf(bytes: Uint8Array): string {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), 'hex')
}

/** Finds bytes of a new search section in that of an earlier commit. */
interface PieceFinder {
  /**
   * Cuts the next bytes of the section into pieces, in order: locations of the same bytes in earlier packs, or views of the bytes
   * themselves.
   */
  find(bytes: Uint8Array): SectionPiece[]
}

/** After this many pieces, only long ones are reused: their list is part of the header, so short ones would cost a reader more than they save. */
const PIECES = 12 * 1024
/** Earlier packs that a section may refer to, besides those that its length alone fills: a read may touch each of them. */
const SECTION_PACKS = 3
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
  const packs = fullestPacks(segments, SECTION_PACKS + Math.floor(earlier.length / PACK_BYTES))
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

/** A header that would list more packs than this refers to none of an earlier commit. */
const PACKS = 64

/**
 * Whether the next snapshot may refer to the packs of this one: by an estimate, which leaves out added files, it then lists at most `PACKS`
 * packs and uses at least half of their bytes. Otherwise everything is stored anew.
 *
 * The tree tells which records remain. The search section is expected to change, since an added file renumbers all later items, and so is
 * half of the tables; both are added to the bytes in use.
 */
function isWorthReusing(
  { header, blobs }: Pick<EarlierSnapshot, 'header' | 'blobs'>,
  isInTree: (oid: string) => boolean,
): boolean {
  const { packs, usedBytes, search } = header
  const tableBytes = sizeOfTables(header)
  const sectionBytes = sizeOfSegments(search?.segments ?? [])
  const recordBytes = Math.min(recordBytesInTree(blobs, isInTree), usedBytes - tableBytes - sectionBytes)

  const packedBytes = packs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const nextBytes = recordBytes + tableBytes + sectionBytes
  const freshPacks = Math.ceil(nextBytes / PACK_BYTES) + 1
  return packs.length + freshPacks <= PACKS && packedBytes + sectionBytes + tableBytes / 2 <= 2 * nextBytes
}

function sizeOfTables({ tables }: SnapshotHeader): number {
  return sizeOfSegments(Object.values(tables).flatMap(({ shards }) => shards.map(([, , location]) => location)))
}

function recordBytesInTree(blobs: EarlierSnapshot['blobs'], isInTree: (oid: string) => boolean): number {
  let bytes = 0
  for (const [oid, { record }] of blobs) if (record && isInTree(oid)) bytes += record[2]
  return bytes
}
