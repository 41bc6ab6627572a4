import { promisify } from 'node:util'
import { gunzip, gunzipSync } from 'node:zlib'
import { z } from 'zod'
import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { type Metrics, NO_METRICS } from '#core/ports/metrics.ts'
import { type Location, type RowOf, type SnapshotHeader, TABLES, type TableIndex, type TableName } from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { compareBytes } from '#core/text.ts'
import { openSection, type SearchReader } from '../search/section-reader.ts'
import { lastIndexWhere } from './bisect.ts'
import { createCache, type Loaded, ownBytes } from './cache.ts'
import { createHeaders, type OnDamage } from './header-cache.ts'
import { createPackReader } from './pack-reader.ts'
import { orUnavailable } from './unavailable.ts'

/** Typed, validated reads of snapshots. What was read is kept in memory: it never changes, unless it was damaged and is written anew. */
export interface SnapshotReader {
  /**
   * The snapshot of a commit; `null` when it is not indexed.
   * @throws ServiceError `skill.unavailable` when the store cannot be read, or its bytes are not a snapshot: then of cause `DamagedSnapshot`
   */
  open(repository: HostRepository, commit: CommitSha): Promise<Snapshot | null>
}

export type TableRow<Name extends TableName> = readonly [key: string, row: RowOf<Name>]

/**
 * Every read throws ServiceError `skill.unavailable` when an object is missing or damaged: never a wrong or a partial result.
 * The cause is `DamagedSnapshot`, or `ReplacedSnapshot` when the header is not that which was opened: then it is worth opening it again.
 * Reads that are asked for side by side, and lie close in a pack, are one read of the store.
 */
export interface Snapshot {
  readonly repository: HostRepository
  readonly commit: CommitSha
  readonly header: SnapshotHeader
  /** When the header was written. */
  readonly indexedAt: Date

  /** The row of a key, or `null`. */
  get<Name extends TableName>(table: Name, key: string): Promise<RowOf<Name> | null>

  /** Rows in byte order of their keys. */
  range<Name extends TableName>(table: Name, options?: RangeOptions): Promise<TableRow<Name>[]>

  /** The bytes of a record. Shared: do not change them. */
  record(location: Location): Promise<Uint8Array>

  /** What is made of the bytes of a record, which belong to no one. Kept by its kind, as a record is. */
  made<Value>(kind: string, location: Location, make: (bytes: Uint8Array) => Promise<Loaded<Value>>): Promise<Value>

  /** An answer that follows from the snapshot and from what its key says, and from nothing else. Kept as what it was made from. */
  answer<Answer extends object>(key: string, make: () => Promise<Answer>): Promise<Answer>

  /** The search section, with its head read; `null` when nothing can be searched. */
  search(): Promise<SearchReader | null>
}

export interface RangeOptions {
  /** Keys that begin with it; default: all. */
  prefix?: string
  /** The first key that may be answered. */
  from?: string
  /** Default: all. */
  limit?: number
}

/** Memory of one process for headers, rows and records, in bytes as estimated, and as much again for what is searched. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Parsed JSON takes about this many times its text. */
const PARSED_FACTOR = 4
/** What one gzip member may unpack to. */
const MEMBER_BYTES = 32 * 1024 * 1024

const unpack = promisify(gunzip)
/** Handing a member that unpacks to so little to another thread takes longer than unpacking it. */
const AT_ONCE_BYTES = 64 * 1024

async function unpackMember(packed: Uint8Array): Promise<Uint8Array> {
  return unpackedBytes(packed) > AT_ONCE_BYTES
    ? await unpack(packed, { maxOutputLength: MEMBER_BYTES })
    : gunzipSync(packed, { maxOutputLength: AT_ONCE_BYTES })
}

/** What a gzip member says at its end that it unpacks to. */
function unpackedBytes(packed: Uint8Array): number {
  const { buffer, byteOffset, length } = packed
  return length < 4 ? 0 : new DataView(buffer, byteOffset).getUint32(length - 4, true)
}

export interface SnapshotReaderOptions {
  cacheBytes?: number
  metrics?: Metrics
  /** Told whenever a snapshot is found damaged. */
  onDamage?: OnDamage
}

export function createSnapshotReader(
  blobs: BlobStore,
  { cacheBytes = CACHE_BYTES, metrics = NO_METRICS, onDamage = async () => {} }: SnapshotReaderOptions = {},
): SnapshotReader {
  const cache = createCache(cacheBytes, { cache: 'snapshots', metrics })
  const searchCache = createCache(cacheBytes, { cache: 'search', metrics })
  const packs = createPackReader(blobs)
  const headers = createHeaders(blobs, cache, onDamage)

  /** Bytes as they are stored, for the moment: a view. */
  async function readStored(repository: HostRepository, header: SnapshotHeader, location: Location): Promise<Uint8Array> {
    const [packIndex, offset, length] = location
    const pack = header.packs[packIndex]
    if (!pack || offset + length > pack.sizeBytes) throw new Error('the location lies outside the packs')
    return await packs.read(packKey(repository, pack.name), offset, length)
  }

  function readMember(repository: HostRepository, header: SnapshotHeader, location: Location): Promise<Uint8Array> {
    const [packIndex, offset, length] = location
    return orUnavailable(`member ${packIndex}:${offset}+${length} of ${repository.id} at ${header.commit}`, async () => {
      return await unpackMember(await readStored(repository, header, location))
    })
  }

  async function openSnapshot(repository: HostRepository, commit: CommitSha): Promise<Snapshot | null> {
    const stored = await headers.open(repository, commit)
    if (stored === null) return null
    const { header, createdAt, digest } = stored
    // One that is written anew may have other bytes, since they say where texts lie.
    const name = `${headerKey(repository, commit)} of ${createdAt.getTime()} as of ${digest}`
    const member = (location: Location) => readMember(repository, header, location)
    const cacheKey = (kind: string, location: Location) =>
      `${kind} ${packKey(repository, header.packs[location[0]]?.name ?? '')} ${location[1]}`

    function shard<Name extends TableName>(table: Name, number: number): Promise<TableRow<Name>[]> {
      const [firstKey, firstNumber, location] = shardAt(header.tables[table], number)
      const rows = (header.tables[table].shards[number + 1]?.[1] ?? header.tables[table].rows) - firstNumber
      return cache.get(cacheKey(table, location), async () => {
        const bytes = await member(location)
        const value = await orUnavailable(`shard ${number} of ${table} of ${repository.id} at ${commit}`, () => {
          return parseShard(table, bytes, firstKey, rows)
        })
        return { value, size: bytes.length * PARSED_FACTOR }
      })
    }

    function made<Value>(kind: string, location: Location, make: (bytes: Uint8Array) => Promise<Loaded<Value>>): Promise<Value> {
      return cache.get(cacheKey(kind, location), async () => make(await member(location)))
    }

    const watched = <Value>(read: () => Promise<Value>) => headers.watch(repository, stored, read)

    const snapshot: Snapshot = {
      repository,
      commit,
      header,
      indexedAt: createdAt,

      async get(table, key) {
        const number = shardOfKey(header.tables[table], key)
        if (number < 0) return null
        const rows = await shard(table, number)
        const row = rows[firstRowFrom(rows, key)]
        return row?.[0] === key ? row[1] : null
      },

      async range(table, { prefix = '', from = '', limit = Number.POSITIVE_INFINITY } = {}) {
        const start = compareBytes(from, prefix) > 0 ? from : prefix
        const numbers = shardsOfRange(header.tables[table], start, prefix, limit)
        const shards = await Promise.all(numbers.map(number => shard(table, number)))
        const found: TableRow<typeof table>[] = []
        for (const rows of shards) {
          for (let at = firstRowFrom(rows, start); at < rows.length; at++) {
            const row = rows[at]
            if (!row?.[0].startsWith(prefix) || found.length >= limit) return found
            found.push(row)
          }
        }
        return found
      },

      record: location => made('record', location, async bytes => ({ value: ownBytes(bytes), size: bytes.length })),

      made,

      answer(key, make) {
        return cache.get(`${name} ${key}`, async () => {
          const value = await make()
          return { value, size: JSON.stringify(value).length * PARSED_FACTOR }
        })
      },

      async search() {
        const { search } = header
        const read = (location: Location) => readStored(repository, header, location)
        const section =
          search && (await openSection(searchCache, { key: `the search section of ${name}`, section: search, read }))
        return (
          section && {
            head: section.head,
            itemsBelow: folder => watched(() => section.itemsBelow(folder)),
            lookUp: wishes => watched(() => section.lookUp(wishes)),
            wordsNear: words => watched(() => section.wordsNear(words)),
            postings: terms => watched(() => section.postings(terms)),
            items: numbers => watched(() => section.items(numbers)),
          }
        )
      },
    }
    return {
      ...snapshot,
      get: (table, key) => watched(() => snapshot.get(table, key)),
      range: (table, options) => watched(() => snapshot.range(table, options)),
      record: location => watched(() => snapshot.record(location)),
      answer: (key, make) => watched(() => snapshot.answer(key, make)),
      made: (kind, location, make) => watched(() => snapshot.made(kind, location, make)),
      search: () => watched(() => snapshot.search()),
    }
  }

  return { open: openSnapshot }
}

const SHARD_SCHEMAS = Object.fromEntries(
  Object.entries(TABLES).map(([name, table]) => [name, z.array(z.tuple([z.string(), table.row as z.ZodType]))]),
)

function parseShard<Name extends TableName>(table: Name, bytes: Uint8Array, firstKey: string, rows: number): TableRow<Name>[] {
  const shard = SHARD_SCHEMAS[table]?.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))) as TableRow<Name>[]
  if (shard.length !== rows || shard[0]?.[0] !== firstKey) throw new Error('the shard is not the one that the header names')
  return shard
}

function shardAt(index: TableIndex, number: number): TableIndex['shards'][number] {
  const shard = index.shards[number]
  if (!shard) throw new RangeError(`there is no shard ${number}`)
  return shard
}

/** The only shard that may hold the key; -1 when the key is before all of them. */
function shardOfKey(index: TableIndex, key: string): number {
  return lastIndexWhere(index.shards.length, number => compareBytes(shardAt(index, number)[0], key) <= 0)
}

/**
 * The shards in which rows from `start` on may lie that begin with the prefix: enough for `limit` rows wherever in the first of them they begin.
 * They are neighbours in a pack, so that reading one more than it takes costs less than asking again.
 */
function shardsOfRange(index: TableIndex, start: string, prefix: string, limit: number): number[] {
  const { shards, rows } = index
  const numbers: number[] = []
  let rowsBehindFirst = 0
  for (let number = Math.max(0, shardOfKey(index, start)); number < shards.length && rowsBehindFirst < limit; number++) {
    const [firstKey, rowsBefore] = shardAt(index, number)
    if (numbers.length > 0) {
      if (!firstKey.startsWith(prefix)) break
      rowsBehindFirst += (shards[number + 1]?.[1] ?? rows) - rowsBefore
    }
    numbers.push(number)
  }
  return numbers
}

/** The first row whose key is `key` or behind it. */
function firstRowFrom(rows: readonly (readonly [string, unknown])[], key: string): number {
  return lastIndexWhere(rows.length, at => compareBytes(rows[at]?.[0] ?? '', key) < 0) + 1
}
