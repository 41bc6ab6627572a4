import type { CommitSha } from '#core/commit-sha.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { type Metrics, NO_METRICS } from '#core/ports/metrics.ts'
import type { Location, RowOf, SearchSection, SnapshotHeader, TableName } from '#core/snapshot/format.ts'
import { headerKey } from '#core/snapshot/store-keys.ts'
import { compareBytes } from '#core/text.ts'
import { type Cache, createCache, type Loaded, ownBytes } from './cache.ts'
import { createHeaders, type Headers, type OnDamage, type StoredHeader } from './header-cache.ts'
import { createMemberReader, type MemberReader } from './member-reader.ts'
import { createPackReader } from './pack-reader.ts'
import { firstRowFrom, parseShard, rowsOfShard, shardAt, shardOfKey, shardsOfRange, type TableRow } from './table-shards.ts'
import { orUnavailable } from './unavailable.ts'

/** Typed, validated reads of snapshots, cached in memory: stored bytes are immutable, except where damage was repaired. */
export interface SnapshotReader {
  /**
   * The snapshot of a commit; `null` when it is not indexed.
   * @throws ServiceError `skill.unavailable` when the store cannot be read, or, with cause `DamagedSnapshot`, when its bytes are no snapshot
   */
  open(repository: HostRepository, commit: CommitSha): Promise<Snapshot | null>
}

/**
 * Every read throws ServiceError `skill.unavailable` when an object is missing or damaged: never a wrong or a partial result.
 * The cause is `DamagedSnapshot`; or `ReplacedSnapshot` when the header changed since it was opened, and opening it again may succeed.
 * Reads in one turn of the event loop that lie close together in a pack become one read of the store.
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

  /** Caches a value computed from the bytes of a record, by its kind and the place of the record. */
  derived<Value>(kind: string, location: Location, derive: (bytes: Uint8Array) => Promise<Loaded<Value>>): Promise<Value>

  /** Caches what depends only on this snapshot and the key. The value is shared: freeze it. */
  memo<Value extends object>(key: string, compute: () => Promise<Value>): Promise<Value>

  /** Where the search section lies, for `openSearch`; `null` when the snapshot has none. */
  readonly section: StoredSection | null
}

/** A search section as it is stored. */
export interface StoredSection {
  /** Identifies the section in the cache and in the log. */
  key: string
  section: SearchSection
  /** For what is read of it. */
  cache: Cache
  /** The bytes as they are stored. Reads in one turn of the event loop are one round. */
  read(location: Location): Promise<Uint8Array>
  /** Runs a read of the section as the methods of `Snapshot` run theirs: damage is told from a header that changed. */
  watch<Value>(read: () => Promise<Value>): Promise<Value>
}

export interface RangeOptions {
  /** Only keys with this prefix; default: all. */
  prefix?: string
  /** The least key to return. */
  from?: string
  /** Default: all. */
  limit?: number
}

export interface SnapshotReaderOptions {
  cacheBytes?: number
  metrics?: Metrics
  /** Called whenever a snapshot is found damaged. */
  onDamage?: OnDamage
}

/** Memory of one process for headers, rows and records, as estimated; pages of search sections may take as much again. */
const CACHE_BYTES = 64 * 1024 * 1024
/** Parsed JSON takes about this many times its text. */
const PARSED_FACTOR = 4

export function createSnapshotReader(
  blobs: BlobStore,
  { cacheBytes = CACHE_BYTES, metrics = NO_METRICS, onDamage = async () => {} }: SnapshotReaderOptions = {},
): SnapshotReader {
  const cache = createCache(cacheBytes, { cache: 'snapshots', metrics })
  const searchCache = createCache(cacheBytes, { cache: 'search', metrics })
  const packs = createPackReader(blobs)
  const headers = createHeaders(blobs, cache, onDamage)

  return {
    async open(repository, commit) {
      const stored = await headers.open(repository, commit)
      if (stored === null) return null
      const members = createMemberReader(packs, repository, stored.header)
      return new CachedSnapshot({ repository, commit, stored, members, headers, cache, searchCache })
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
  /** Identifies this writing of the snapshot: a repair may place texts elsewhere. */
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
      watch: read => this.#watch(read),
    }
  }

  get<Name extends TableName>(table: Name, key: string): Promise<RowOf<Name> | null> {
    return this.#watch(async () => {
      const number = shardOfKey(this.header.tables[table], key)
      if (number < 0) return null
      const rows = await this.#shard(table, number)
      const row = rows[firstRowFrom(rows, key)]
      return row?.[0] === key ? row[1] : null
    })
  }

  range<Name extends TableName>(
    table: Name,
    { prefix = '', from = '', limit = Number.POSITIVE_INFINITY }: RangeOptions = {},
  ): Promise<TableRow<Name>[]> {
    return this.#watch(async () => {
      const start = compareBytes(from, prefix) > 0 ? from : prefix
      const numbers = shardsOfRange(this.header.tables[table], start, prefix, limit)
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

  record(location: Location): Promise<Uint8Array> {
    return this.derived('record', location, async bytes => ({ value: ownBytes(bytes), size: bytes.length }))
  }

  derived<Value>(kind: string, location: Location, derive: (bytes: Uint8Array) => Promise<Loaded<Value>>): Promise<Value> {
    const { cache, members } = this.#parts
    return this.#watch(() => cache.get(members.keyOf(kind, location), async () => derive(await members.member(location))))
  }

  memo<Value extends object>(key: string, compute: () => Promise<Value>): Promise<Value> {
    return this.#watch(() =>
      this.#parts.cache.get(`${this.#name} ${key}`, async () => {
        const value = await compute()
        return { value, size: JSON.stringify(value).length * PARSED_FACTOR }
      }),
    )
  }

  #shard<Name extends TableName>(table: Name, number: number): Promise<TableRow<Name>[]> {
    const { cache, members, repository, commit } = this.#parts
    const index = this.header.tables[table]
    const [firstKey, , location] = shardAt(index, number)
    return cache.get(members.keyOf(table, location), async () => {
      const bytes = await members.member(location)
      const value = await orUnavailable(`shard ${number} of ${table} of ${repository.id} at ${commit}`, () => {
        return parseShard(table, bytes, firstKey, rowsOfShard(index, number))
      })
      return { value, size: bytes.length * PARSED_FACTOR }
    })
  }

  #watch<Value>(read: () => Promise<Value>): Promise<Value> {
    return this.#parts.headers.watch(this.repository, this.#parts.stored, read)
  }
}
