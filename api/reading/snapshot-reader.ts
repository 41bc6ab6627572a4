import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import {
  type CommitSha,
  type Location,
  type RowOf,
  SnapshotHeader,
  TABLES,
  type TableIndex,
  type TableName,
} from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/keys.ts'
import { compareBytes } from '#core/text.ts'
import { openSection, type SearchReader } from '../search/section-reader.ts'
import { lastIndexWhere } from './bisect.ts'
import { createCache, ownCopy } from './cache.ts'
import { createPackReader } from './pack-reader.ts'
import { orUnavailable } from './unavailable.ts'

/** Typed, validated reads of snapshots. What was read is kept in memory: it never changes. */
export interface SnapshotReader {
  /**
   * The snapshot of a commit; `null` when it is not indexed.
   * @throws ServiceError `skill.unavailable` when the store cannot be read or its bytes are not a snapshot
   */
  open(repository: HostRepository, commit: CommitSha): Promise<Snapshot | null>
}

export type TableRow<Name extends TableName> = readonly [key: string, row: RowOf<Name>]

/**
 * Every read throws ServiceError `skill.unavailable` when an object is missing or damaged: never a wrong or a partial result.
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

export function createSnapshotReader(blobs: BlobStore, cacheBytes = CACHE_BYTES): SnapshotReader {
  const cache = createCache(cacheBytes)
  const searchCache = createCache(cacheBytes)
  const packs = createPackReader(blobs)

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
      return await unpack(await readStored(repository, header, location), { maxOutputLength: MEMBER_BYTES })
    })
  }

  async function openSnapshot(repository: HostRepository, commit: CommitSha): Promise<Snapshot | null> {
    const key = headerKey(repository, commit)
    const stored = await cache.get(key, () => orUnavailable(key, () => readHeader(blobs, repository, commit)))
    if (stored === null) return null
    const { header, createdAt } = stored
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

    return {
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
        const found: TableRow<typeof table>[] = []
        const { shards } = header.tables[table]
        for (let number = Math.max(0, shardOfKey(header.tables[table], start)); number < shards.length; number++) {
          const rows = await shard(table, number)
          for (let at = firstRowFrom(rows, start); at < rows.length; at++) {
            const row = rows[at]
            if (!row?.[0].startsWith(prefix) || found.length >= limit) return found
            found.push(row)
          }
        }
        return found
      },

      record(location) {
        return cache.get(cacheKey('record', location), async () => {
          const value = ownCopy(await member(location))
          return { value, size: value.length }
        })
      },

      async search() {
        const { search } = header
        const read = (location: Location) => readStored(repository, header, location)
        return search && openSection(searchCache, { key: `the search section of ${key}`, section: search, read })
      },
    }
  }

  return { open: openSnapshot }
}

async function readHeader(blobs: BlobStore, repository: HostRepository, commit: CommitSha) {
  const blob = await blobs.read(headerKey(repository, commit))
  if (blob === null) return null
  const bytes = await unpack(blob.bytes, { maxOutputLength: MEMBER_BYTES })
  const header = SnapshotHeader.parse(JSON.parse(bytes.toString('utf8')))
  if (header.commit !== commit || header.repositoryId !== repository.id) throw new Error('the header is of another commit')
  return { value: { header, createdAt: blob.createdAt }, size: bytes.length * PARSED_FACTOR }
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

/** The first row whose key is `key` or behind it. */
function firstRowFrom(rows: readonly (readonly [string, unknown])[], key: string): number {
  return lastIndexWhere(rows.length, at => compareBytes(rows[at]?.[0] ?? '', key) < 0) + 1
}
