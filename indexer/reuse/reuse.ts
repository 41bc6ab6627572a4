import { createHash } from 'node:crypto'
import { PACK_BYTES } from '#core/limits.ts'
import type { BlobSelection, RepositoryReader, TreeEntry } from '#core/ports/git-host.ts'
import type { Location, SnapshotHeader, TableName } from '#core/snapshot/format.ts'
import { sizeOfSegments } from '#core/snapshot/segments.ts'
import type { ReusedParts } from '../snapshot/reused-parts.ts'
import type { EarlierSnapshot } from './earlier-snapshot.ts'
import { createPieceFinder, type PieceFinder } from './section-pieces.ts'

/**
 * What an earlier commit knows already: bytes of blobs, which need not be brought from the host, and places in its packs, which the next
 * snapshot refers to instead of storing the same again. Nothing of it is believed: whatever is referred to was read and compared before,
 * so that a snapshot says the same whatever it was built on.
 */
export interface Reuse {
  /** The selection, knowing what need not be brought. */
  select(selection: BlobSelection): BlobSelection
  /** The reader, with what need not be brought. */
  read(reader: RepositoryReader): RepositoryReader
  readonly parts: ReusedParts
}

/**
 * @param earlier `null`: there is nothing to go on from
 * @param notesUnread whether the size of a blob that nobody reads is worth noting: the host has to be asked for it
 */
export function createReuse(earlier: EarlierSnapshot | null, notesUnread: boolean): Reuse {
  const met = new Map<string, number>()
  const read = new Set<string>()
  const verified = new Map<string, Location>()
  let held = earlier
  /** What may be referred to. Decided when the tree is known. */
  let source: EarlierSnapshot | null = null
  let finder: Promise<PieceFinder | null> | null = null

  async function* entriesOf(reader: RepositoryReader): AsyncGenerator<TreeEntry> {
    for await (const entry of reader.entries()) {
      const sizeBytes = entry.sizeBytes ?? earlier?.blobs.get(entry.oid)?.sizeBytes ?? null
      if (sizeBytes !== null) met.set(entry.oid, sizeBytes)
      yield { ...entry, sizeBytes }
    }
    source = earlier && isWorthReferringTo(earlier, oid => met.has(oid)) ? earlier : null
  }

  async function* readFrom(reader: RepositoryReader, oids: Iterable<string>, maxBytes: number) {
    const asked = [...oids]
    for (const oid of asked) read.add(oid)
    // Decided once: another reading may lose hold of it meanwhile.
    const atHand = new Set(asked.filter(oid => held?.blobs.get(oid)?.record != null))
    const others = reader
      .read(
        asked.filter(oid => !atHand.has(oid)),
        maxBytes,
      )
      [Symbol.asyncIterator]()
    try {
      for (const [index, oid] of asked.entries()) {
        const bytes = atHand.has(oid) ? await readHeld(oid) : ((await others.next()).value as Read | undefined)?.bytes
        if (bytes === undefined) {
          // The store has lost a pack, or damaged it: from here on the host is asked.
          held = null
          yield* reader.read(asked.slice(index), maxBytes)
          return
        }
        yield { oid, bytes: bytes && bytes.length > maxBytes ? null : bytes }
      }
    } finally {
      await others.return?.(undefined)
    }
  }

  /** `undefined`: it is not there, or is another blob. */
  async function readHeld(oid: string): Promise<Uint8Array | undefined> {
    const { sizeBytes, record } = held?.blobs.get(oid) ?? {}
    if (sizeBytes === undefined || !record) return undefined
    const bytes = await held?.member(record, sizeBytes)
    if (!bytes || oidOf(bytes) !== oid) return undefined
    verified.set(oid, record)
    return bytes
  }

  async function openSection(): Promise<PieceFinder | null> {
    const section = await source?.section()
    return section ? createPieceFinder(section, source?.header.search?.segments ?? []) : null
  }

  return {
    select: selection => ({
      ...selection,
      heldAmong: async oids => new Set(oids.filter(oid => earlier?.blobs.has(oid))),
    }),

    read: reader => ({
      entries: () => entriesOf(reader),
      get cut() {
        return reader.cut
      },
      read: (oids, maxBytes) => readFrom(reader, oids, maxBytes),
      close: () => reader.close(),
    }),

    parts: {
      packs: () => source?.header.packs ?? [],
      record: oid => (source && verified.get(oid)) ?? null,

      async shard(table, firstKey, bytes) {
        const location = source && findShard(source.header, table, firstKey)
        if (!location) return null
        const known = await source?.member(location, bytes.length)
        return known && Buffer.compare(known, bytes) === 0 ? location : null
      },

      async pieces(bytes) {
        finder ??= openSection()
        return (await finder)?.find(bytes) ?? [{ fresh: bytes }]
      },

      *unread() {
        if (!notesUnread) return
        for (const [oid, sizeBytes] of met) if (!read.has(oid) && !source?.blobs.has(oid)) yield [oid, sizeBytes]
      },
    },
  }
}

type Read = { oid: string; bytes: Uint8Array | null }

/** The id that git gives a blob. */
function oidOf(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

function findShard({ tables }: SnapshotHeader, table: TableName, firstKey: string): Location | null {
  return tables[table].shards.find(([key]) => key === firstKey)?.[2] ?? null
}

/** A header refers to no more packs. */
const PACKS = 64

/**
 * Whether the next header may refer to the packs of this one: it will refer to at most `PACKS`, and to at least half of their bytes.
 * Else everything is written anew.
 *
 * What is left of the records is known from the tree. The search section is expected to be new, since one more file moves the numbers of all
 * behind it, and so is half of the tables; what is new is referred to as well.
 */
export function isWorthReferringTo(
  { header, blobs }: Pick<EarlierSnapshot, 'header' | 'blobs'>,
  isInTree: (oid: string) => boolean,
): boolean {
  const { packs, usedBytes, search } = header
  const tableBytes = sizeOfSegments(
    Object.values(header.tables).flatMap(({ shards }) => shards.map(([, , location]) => location)),
  )
  const sectionBytes = sizeOfSegments(search?.segments ?? [])
  let inTree = 0
  for (const [oid, { record }] of blobs) if (record && isInTree(oid)) inTree += record[2]
  const recordBytes = Math.min(inTree, usedBytes - tableBytes - sectionBytes)

  const packedBytes = packs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const nextBytes = recordBytes + tableBytes + sectionBytes
  const freshPacks = Math.ceil(nextBytes / PACK_BYTES) + 1
  return packs.length + freshPacks <= PACKS && packedBytes + sectionBytes + tableBytes / 2 <= 2 * nextBytes
}
