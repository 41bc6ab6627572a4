import { crc32 } from 'node:zlib'
import type { BlobSelection } from '#core/ports/git-host.ts'
import type { Location, SnapshotHeader, TableName } from '#core/snapshot/format.ts'
import type { ReusedParts } from '../snapshot/reused-parts.ts'
import type { EarlierReadings } from './earlier-readings.ts'
import { createEarlierRecords, type EarlierRecords, readBlobs } from './earlier-records.ts'
import type { EarlierSnapshot } from './earlier-snapshot.ts'
import type { RepositoryTree } from './repository-tree.ts'
import { createPieceFinder, type PieceFinder } from './section-pieces.ts'
import { isWorthReusing } from './worth-reusing.ts'

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
