import { promisify } from 'node:util'
import { gunzip, gunzipSync } from 'node:zlib'
import { z } from 'zod'
import { type CommitSha, isCommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { type Fallbacks, NO_FALLBACKS } from '#core/ports/fallbacks.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { type Metrics, NO_METRICS } from '#core/ports/metrics.ts'
import { DamagedBytes, parseStoredJson } from '#core/snapshot/damage.ts'
import {
  type Location,
  type RowOf,
  type SearchSection,
  type SnapshotHeader,
  TABLES,
  type TableIndex,
  type TableName,
} from '#core/snapshot/format.ts'
import { headerKey, headersPrefix, packKey } from '#core/snapshot/store-keys.ts'
import { compareBytes } from '#core/text.ts'
import { lastIndexWhere } from './bisect.ts'
import { type Cache, createCache, type Loaded, ownBytes } from './cache.ts'
import { createHeaders, type Headers, type OnDamage, type StoredHeader } from './header-cache.ts'
import { createPackReader, type PackReader } from './pack-reader.ts'
import { askStore, orUnavailable } from './unavailable.ts'

/** Opens snapshots for typed, validated reads, cached in memory. Stored bytes are immutable, except after a repair of damage. */
export interface SnapshotReader {
  /**
   * The snapshot of a commit; `null` when it is not indexed.
   *
   * @throws ServiceError `skill.unavailable` when the store does not answer, or, with cause `DamagedSnapshot`, when the header is damaged
   */
  open(repository: HostRepository, commit: CommitSha): Promise<Snapshot | null>

  /**
   * Commits of the repository that have a snapshot of any version, and whose id begins so.
   *
   * @param prefix hex digits in lower case, some of an id
   * @throws ServiceError `skill.unavailable` when the store does not answer
   */
  commitsLike(repository: HostRepository, prefix: string, max: number): Promise<CommitSha[]>
}

/**
 * A snapshot that is open. A read returns the complete, correct result or throws ServiceError `skill.unavailable`. The cause is
 * `DamagedSnapshot` when an object is missing or damaged, and `ReplacedSnapshot` when the header changed since it was opened, so that opening
 * the snapshot again may succeed. Reads in one turn of the event loop that lie close together in a pack become one read of the store.
 */
export interface Snapshot {
  readonly repository: HostRepository
  readonly commit: CommitSha
  readonly header: SnapshotHeader
  /** When the header was written. */
  readonly indexedAt: Date

  /** The row of a key; `null` when there is none. */
  get<Name extends TableName>(table: Name, key: string): Promise<RowOf<Name> | null>

  /** Rows in byte order of their keys. */
  range<Name extends TableName>(table: Name, options?: RangeOptions): Promise<TableRow<Name>[]>

  /** The names of the shards of a table. Shards of one name hold the same rows, in whatever snapshots they are. */
  shardNames(table: TableName): readonly string[]

  /** The bytes of a record. They are shared: do not change them. */
  record(location: Location): Promise<Uint8Array>

  /** Returns a value computed from the bytes of a record; caches it by `kind` and location. */
  derived<Value>(kind: string, location: Location, derive: (bytes: Uint8Array) => Promise<Loaded<Value>>): Promise<Value>

  /** Returns a value that depends only on this snapshot and the key; caches it by `key`. The value is shared: freeze it. */
  memo<Value extends object>(key: string, compute: () => Promise<Value>): Promise<Value>

  /** The search section, for `openSearch`; `null` when the snapshot has none. */
  readonly section: StoredSection | null
}

/** A search section as it is stored. */
export interface StoredSection {
  /** Identifies the section in the cache and in the log. */
  key: string
  section: SearchSection
  /** For parts of the section. */
  cache: Cache
  /** The stored bytes of a location. Reads in one turn of the event loop are one round. */
  read(location: Location): Promise<Uint8Array>
  /** Runs a read of the section. Errors are those of the reads of `Snapshot`. */
  withDamageCheck<Value>(read: () => Promise<Value>): Promise<Value>
}

/** Which rows of a table to read. */
export interface RangeOptions {
  /** Only keys with this prefix; default: all. */
  prefix?: string
  /** Only keys from this one on; default: all. */
  from?: string
  /** Default: all. */
  limit?: number
  /** Names of shards whose rows are left out. Default: none. */
  except?: ReadonlySet<string>
}

/** Settings of a reader. `cacheBytes`: of each of its two caches. */
export interface SnapshotReaderOptions {
  cacheBytes?: number
  metrics?: Metrics
  /** Called for each read that finds the snapshot damaged. */
  onDamage?: OnDamage
  /** Told of reports of damage that are lost. */
  fallbacks?: Fallbacks
}

/** Estimated memory of each of two caches: headers, rows and records in one, search sections in the other. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Snapshots of one commit, by earlier versions of this service and by this one, that a search for commits reads past. */
const VERSIONS_OF_COMMIT = 4
/** Memory of parsed JSON, as a multiple of its text. */
const PARSED_FACTOR = 4

/** A reader with caches of its own, for all repositories of a store. */
export function createSnapshotReader(
  blobs: BlobStore,
  {
    cacheBytes = CACHE_BYTES,
    metrics = NO_METRICS,
    onDamage = async () => {},
    fallbacks = NO_FALLBACKS,
  }: SnapshotReaderOptions = {},
): SnapshotReader {
  const cache = createCache(cacheBytes, { cache: 'snapshots', metrics })
  const searchCache = createCache(cacheBytes, { cache: 'search', metrics })
  const packs = createPackReader(blobs)
  const headers = createHeaders(blobs, cache, onDamage, fallbacks)

  return {
    async open(repository, commit) {
      const stored = await headers.open(repository, commit)
      if (stored === null) return null
      const members = createMemberReader(packs, repository, stored.header)
      return new CachedSnapshot({ repository, commit, stored, members, headers, cache, searchCache })
    },
    async commitsLike(repository, prefix, max) {
      const start = headersPrefix(repository)
      const list = () => askStore(blobs.list(start + prefix, { limit: VERSIONS_OF_COMMIT * max }))
      const keys = await orUnavailable('the list of snapshots', list)
      const commits = keys.map(key => key.slice(start.length).split('/', 1)[0] ?? '')
      return [...new Set(commits)].filter(isCommitSha).slice(0, max) as CommitSha[]
    },
  }
}

interface SnapshotParts {
  repository: HostRepository
  commit: CommitSha
  stored: StoredHeader
  members: MemberReader
  headers: Headers
  cache: Cache
  searchCache: Cache
}

class CachedSnapshot implements Snapshot {
  readonly repository: HostRepository
  readonly commit: CommitSha
  readonly header: SnapshotHeader
  readonly indexedAt: Date
  readonly section: StoredSection | null
  readonly #parts: SnapshotParts
  /** Cache key of this version of the snapshot: a repair may move texts. */
  readonly #name: string

  constructor(parts: SnapshotParts) {
    const { repository, commit, stored, members, searchCache } = parts
    this.#parts = parts
    this.repository = repository
    this.commit = commit
    this.header = stored.header
    this.indexedAt = stored.createdAt
    this.#name = `${headerKey(repository, commit)} of ${stored.createdAt.getTime()} as of ${stored.digest}`
    this.section = stored.header.search && {
      key: `the search section of ${this.#name}`,
      section: stored.header.search,
      cache: searchCache,
      read: location => members.stored(location),
      withDamageCheck: read => this.#withDamageCheck(read),
    }
  }

  get<Name extends TableName>(table: Name, key: string): Promise<RowOf<Name> | null> {
    return this.#withDamageCheck(async () => {
      const number = shardOfKey(this.header.tables[table], key)
      if (number < 0) return null
      const rows = await this.#shard(table, number)
      const row = rows[firstRowFrom(rows, key)]
      return row?.[0] === key ? row[1] : null
    })
  }

  range<Name extends TableName>(
    table: Name,
    { prefix = '', from = '', limit = Number.POSITIVE_INFINITY, except }: RangeOptions = {},
  ): Promise<TableRow<Name>[]> {
    return this.#withDamageCheck(async () => {
      const start = compareBytes(from, prefix) > 0 ? from : prefix
      const names = except && this.shardNames(table)
      const numbers = shardsOfRange(this.header.tables[table], start, prefix, limit).filter(
        number => !names || !except.has(names[number] ?? ''),
      )
      const shards = await Promise.all(numbers.map(number => this.#shard(table, number)))
      const found: TableRow<Name>[] = []
      for (const rows of shards) {
        for (let at = firstRowFrom(rows, start); at < rows.length; at++) {
          const row = rows[at]
          if (!row?.[0].startsWith(prefix) || found.length >= limit) return found
          found.push(row)
        }
      }
      return found
    })
  }

  shardNames(table: TableName): readonly string[] {
    const { members } = this.#parts
    return this.header.tables[table].shards.map(([, , location]) => members.keyOf(table, location))
  }

  record(location: Location): Promise<Uint8Array> {
    return this.derived('record', location, async bytes => ({ value: ownBytes(bytes), sizeBytes: bytes.length }))
  }

  derived<Value>(kind: string, location: Location, derive: (bytes: Uint8Array) => Promise<Loaded<Value>>): Promise<Value> {
    const { cache, members } = this.#parts
    return this.#withDamageCheck(async () =>
      cache.get(members.keyOf(kind, location), async () => derive(await members.member(location))),
    )
  }

  memo<Value extends object>(key: string, compute: () => Promise<Value>): Promise<Value> {
    return this.#withDamageCheck(() =>
      this.#parts.cache.get(`${this.#name} ${key}`, async () => {
        const value = await compute()
        return { value, sizeBytes: JSON.stringify(value).length * PARSED_FACTOR }
      }),
    )
  }

  async #shard<Name extends TableName>(table: Name, number: number): Promise<TableRow<Name>[]> {
    const { cache, members, repository, commit } = this.#parts
    const index = this.header.tables[table]
    const [firstKey, , location] = shardAt(index, number)
    return await cache.get(members.keyOf(table, location), async () => {
      const bytes = await members.member(location)
      const value = await orUnavailable(`shard ${number} of ${table} of ${repository.id} at ${commit}`, () => {
        return parseShard(table, bytes, firstKey, rowsOfShard(index, number))
      })
      return { value, sizeBytes: bytes.length * PARSED_FACTOR }
    })
  }

  #withDamageCheck<Value>(read: () => Promise<Value>): Promise<Value> {
    return this.#parts.headers.withDamageCheck(this.repository, this.#parts.stored, read)
  }
}

/** Reads the packs of one snapshot. */
interface MemberReader {
  /** The stored bytes: a view, valid until the caller yields. */
  stored(location: Location): Promise<Uint8Array>
  /**
   * The unpacked bytes of a gzip member.
   *
   * @throws ServiceError `skill.unavailable` when it is missing or damaged
   */
  member(location: Location): Promise<Uint8Array>
  /** A cache key for a value derived from a member. Packs are immutable, so snapshots that share a pack share the value. */
  keyOf(kind: string, location: Location): string
}

/** A reader of the packs that a header lists. */
function createMemberReader(packs: PackReader, repository: HostRepository, header: SnapshotHeader): MemberReader {
  async function stored([packIndex, offset, length]: Location): Promise<Uint8Array> {
    const pack = header.packs[packIndex]
    if (!pack || offset + length > pack.sizeBytes)
      throw new DamagedBytes(`bytes ${offset} to ${offset + length} lie outside pack ${packIndex}`)
    return await packs.read(packKey(repository, pack.name), offset, length)
  }

  return {
    stored,
    member(location) {
      const [packIndex, offset, length] = location
      return orUnavailable(`member ${packIndex}:${offset}+${length} of ${repository.id} at ${header.commit}`, async () => {
        return await unpackMember(await stored(location))
      })
    },
    keyOf: (kind, [packIndex, offset]) => `${kind} ${packKey(repository, header.packs[packIndex]?.name ?? '')} ${offset}`,
  }
}

/** The largest size of an unpacked member. */
const MEMBER_BYTES = 32 * 1024 * 1024
/** Up to this size, unpacking takes less time than passing the member to another thread. */
const SYNC_BYTES = 64 * 1024

const unpack = promisify(gunzip)

async function unpackMember(packed: Uint8Array): Promise<Uint8Array> {
  return unpackedBytes(packed) > SYNC_BYTES
    ? await unpack(packed, { maxOutputLength: MEMBER_BYTES })
    : gunzipSync(packed, { maxOutputLength: SYNC_BYTES })
}

/** The unpacked size, from the trailer of the gzip member. */
function unpackedBytes(packed: Uint8Array): number {
  const { buffer, byteOffset, length } = packed
  return length < 4 ? 0 : new DataView(buffer, byteOffset).getUint32(length - 4, true)
}

/* Which shards of a table hold which keys, and the rows of a shard. Pure. */

/** A row of a table with its key. */
type TableRow<Name extends TableName> = readonly [key: string, row: RowOf<Name>]

const SHARD_SCHEMAS = Object.fromEntries(
  Object.entries(TABLES).map(([name, table]) => [name, z.array(z.tuple([z.string(), table.row as z.ZodType]))]),
)

/** @throws an error of `isDamage` when the bytes are not the shard with this first key and this number of rows */
function parseShard<Name extends TableName>(table: Name, bytes: Uint8Array, firstKey: string, rows: number): TableRow<Name>[] {
  const shard = SHARD_SCHEMAS[table]?.parse(parseStoredJson(Buffer.from(bytes).toString('utf8'))) as TableRow<Name>[]
  if (shard.length !== rows || shard[0]?.[0] !== firstKey)
    throw new DamagedBytes(`the shard does not have ${rows} rows from ${JSON.stringify(firstKey)} on`)
  return shard
}

/** @throws RangeError when there is no shard with the number */
function shardAt(index: TableIndex, number: number): TableIndex['shards'][number] {
  const shard = index.shards[number]
  if (!shard) throw new RangeError(`there is no shard ${number}`)
  return shard
}

/** The number of rows of a shard. */
function rowsOfShard(index: TableIndex, number: number): number {
  const [, rowsBefore] = shardAt(index, number)
  return (index.shards[number + 1]?.[1] ?? index.rows) - rowsBefore
}

/** The only shard that can hold the key; -1 when the key lies before all shards. */
function shardOfKey(index: TableIndex, key: string): number {
  return lastIndexWhere(index.shards.length, number => compareBytes(shardAt(index, number)[0], key) <= 0)
}

/**
 * The shards that can hold rows from `start` on whose keys have the prefix: enough for `limit` rows, wherever in the first shard they begin.
 * Shards are neighbours in a pack, so one shard too many costs less than a second round of reads.
 */
function shardsOfRange(index: TableIndex, start: string, prefix: string, limit: number): number[] {
  const numbers: number[] = []
  let rowsAfterFirst = 0
  for (let number = Math.max(0, shardOfKey(index, start)); number < index.shards.length && rowsAfterFirst < limit; number++) {
    if (numbers.length > 0) {
      if (!shardAt(index, number)[0].startsWith(prefix)) break
      rowsAfterFirst += rowsOfShard(index, number)
    }
    numbers.push(number)
  }
  return numbers
}

/** The index of the first row whose key is `key` or greater. */
function firstRowFrom(rows: readonly (readonly [string, unknown])[], key: string): number {
  return lastIndexWhere(rows.length, at => compareBytes(rows[at]?.[0] ?? '', key) < 0) + 1
}
