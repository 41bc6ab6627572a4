import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import type { CommitSha } from '#core/commit-sha.ts'
import { PACK_BYTES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import {
  encodeHeader,
  type Location,
  type PackEntry,
  type RowOf,
  type SnapshotHeader,
  TABLES,
  type TableIndex,
  type TableName,
} from '#core/snapshot/format.ts'
import { appendSegment } from '#core/snapshot/segments.ts'
import { headerKey, packKey } from '#core/snapshot/store-keys.ts'
import { FORMAT_VERSION, RULES_VERSION } from '#core/snapshot/versions.ts'
import { encodeText } from '#core/text.ts'
import { createDirectoryWriter } from './pack-directory.ts'
import { packNameOf } from './pack-name.ts'
import type { ReusedParts } from './reused-parts.ts'

/**
 * Writes one snapshot: records and tables into packs as they come, the header last. Same calls, same bytes; what lies in packs of an
 * earlier commit already is not stored again, so on top of one the bytes are others, and say the same.
 */
export interface SnapshotWriter<Written = WrittenSnapshot> {
  /**
   * Stores the bytes of one blob, behind what was added before. Compressing goes on beside the caller, who may add more meanwhile;
   * whoever adds without waiting bounds how much that is.
   */
  addRecord(oid: string, bytes: Uint8Array): Promise<Location>
  /** Stores a table. Rows come in byte order of their keys, every key once. */
  addTable<Name extends TableName>(name: Name, rows: Iterable<readonly [key: string, row: RowOf<Name>]>): Promise<void>
  /** Writes what is left and then the header: from here on the commit is ready. Tables that were not added are empty. */
  finish(rest: Pick<SnapshotHeader, 'truncated' | 'search' | 'root'>): Promise<Written>
}

/** A writer into packs, which also takes bytes as they are. */
export interface PackWriter extends SnapshotWriter {
  /**
   * Stores the next bytes of the search section, uncompressed; where they lie, in one piece or in several: packs are filled to their end,
   * and what lies somewhere already stays there. The bytes must not change afterwards.
   */
  addBytes(bytes: Uint8Array): Promise<Location[]>
}

export interface WrittenSnapshot {
  header: SnapshotHeader
  /** This writer created the header: nobody was sooner. */
  isFirst: boolean
  /** Objects and bytes that this writer created; what was there already is not counted. */
  objects: number
  bytes: number
}

/** Work under way: adding waits while there is much of it. */
function createWindow<Value>(size = 8): { add(work: Promise<Value>): Promise<void>; all(): Promise<Value[]> } {
  const works: Promise<Value>[] = []
  return {
    async add(work) {
      works.push(work)
      if (works.length > size) await works[works.length - 1 - size]
    },
    all: () => Promise.all(works),
  }
}

const gzipped = promisify(gzip)
const GZIP = { level: 6 }
/** Handing a small member to another thread costs more than compressing it. */
const THREAD_BYTES = 32 * 1024

async function compress(bytes: Uint8Array): Promise<Uint8Array> {
  // zlib hands out a view of a larger buffer: the copy lets that one go.
  return Uint8Array.from(bytes.length < THREAD_BYTES ? gzipSync(bytes, GZIP) : await gzipped(bytes, GZIP))
}

/** Cuts a shard early when its rows are large. */
const SHARD_BYTES = 256 * 1024

/** @param reused of the commit before; `null`: everything is stored */
export function createSnapshotWriter(
  blobs: Pick<BlobStore, 'create'>,
  repository: HostRepository,
  commit: CommitSha,
  reused: ReusedParts | null = null,
): PackWriter {
  let packs: PackEntry[] | null = null
  const tables = Object.fromEntries(
    Object.keys(TABLES).map(name => [name, { rows: 0, shards: [] } satisfies TableIndex]),
  ) as unknown as Record<TableName, TableIndex>
  const created = { objects: 0, bytes: 0 }
  let open: Uint8Array[] = []
  let openBytes = 0
  const directory = createDirectoryWriter()
  let usedBytes = 0

  /** Whether the object was not there yet. */
  async function create(key: string, bytes: Uint8Array): Promise<boolean> {
    if ((await blobs.create(key, bytes)) === 'exists') return false
    created.objects++
    created.bytes += bytes.length
    return true
  }

  /** The packs of the snapshot. What is reused is known when the first part comes. */
  function allPacks(): PackEntry[] {
    packs ??= [...(reused?.packs ?? [])]
    return packs
  }

  /** How much goes into the open pack, with the directory behind it. */
  const leftBytes = () => PACK_BYTES - openBytes - directory.maxBytes()

  async function sealPack(): Promise<void> {
    const directoryBytes = directory.finish()
    const bytes = Buffer.concat([...open, directoryBytes], openBytes + directoryBytes.length)
    open = []
    openBytes = 0
    if (bytes.length === 0) return
    const name = packNameOf(bytes)
    allPacks().push({ name, sizeBytes: bytes.length, directoryBytes: directoryBytes.length })
    await create(packKey(repository, name), bytes)
  }

  // Members are compressed side by side on the thread pool and placed in the order in which they came.
  let placed: Promise<unknown> = Promise.resolve()

  function inOrder<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = placed.then(work)
    placed = done
    return done
  }

  function addMember(bytes: Uint8Array): Promise<Location> {
    const compressed = compress(bytes)
    return inOrder(async () => place(await compressed))
  }

  /** Notes that the header refers to it. */
  function used(location: Location): Location {
    usedBytes += location[2]
    return location
  }

  async function place(member: Uint8Array): Promise<Location> {
    if (member.length > leftBytes()) await sealPack()
    const location: Location = [allPacks().length, openBytes, member.length]
    open.push(member)
    openBytes += member.length
    return used(location)
  }

  async function placeRecord(oid: string, sizeBytes: number, member: Uint8Array): Promise<Location> {
    const location = await place(member)
    directory.add({ oid, sizeBytes, record: { offset: location[1], length: location[2] } })
    return location
  }

  async function placeBytes(bytes: Uint8Array, segments: Location[]): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (leftBytes() <= 0) await sealPack()
      const piece = bytes.subarray(at, at + leftBytes())
      appendSegment(segments, await place(piece))
      at += piece.length
    }
  }

  async function placePieces(bytes: Uint8Array): Promise<Location[]> {
    const segments: Location[] = []
    for (const piece of (await reused?.pieces(bytes)) ?? [{ fresh: bytes }]) {
      if ('fresh' in piece) await placeBytes(piece.fresh, segments)
      else appendSegment(segments, used(piece.known))
    }
    return segments
  }

  /** Has the last pack tell what is known of blobs that are in none. */
  async function noteUnread(): Promise<void> {
    for (const [oid, sizeBytes] of reused?.unread() ?? []) {
      if (leftBytes() <= 0) await sealPack()
      directory.add({ oid, sizeBytes, record: null })
    }
  }

  return {
    async addRecord(oid, bytes) {
      const known = reused?.record(oid)
      if (known) return used(known)
      const compressed = compress(bytes)
      return inOrder(async () => placeRecord(oid, bytes.length, await compressed))
    },

    addBytes: bytes => inOrder(() => placePieces(bytes)),

    async addTable(name, rows) {
      const table = tables[name]
      const members = createWindow<Location>()
      const starts: [firstKey: string, rowsBefore: number][] = []
      for (const shard of cutShards(rows, TABLES[name].shardRows)) {
        starts.push([shard.firstKey, table.rows])
        table.rows += shard.rows.length
        const bytes = encodeText(`[${shard.rows.join(',')}]`)
        const known = await reused?.shard(name, shard.firstKey, bytes)
        await members.add(known ? Promise.resolve(used(known)) : addMember(bytes))
      }
      const locations = await members.all()
      table.shards = starts.map(([firstKey, rowsBefore], index) => [firstKey, rowsBefore, locations[index] as Location])
    },

    async finish(rest) {
      await placed
      await noteUnread()
      await sealPack()
      const header: SnapshotHeader = {
        format: FORMAT_VERSION,
        rules: RULES_VERSION,
        repositoryId: repository.id,
        commit,
        packs: allPacks(),
        usedBytes,
        tables,
        ...rest,
      }
      const stored = await compress(encodeText(canonicalJson(encodeHeader(header))))
      const isFirst = await create(headerKey(repository, commit), stored)
      return { header, isFirst, ...created }
    },
  }
}

interface Shard {
  firstKey: string
  /** JSON of `[key, row]`. */
  rows: string[]
}

// Borders follow from the keys, so an added row moves one shard and not all behind it.
function* cutShards(rows: Iterable<readonly [string, unknown]>, meanRows: number): Generator<Shard> {
  let shard: Shard | null = null
  let shardBytes = 0
  for (const [key, row] of rows) {
    const json = canonicalJson([key, row])
    shard ??= { firstKey: key, rows: [] }
    shard.rows.push(json)
    shardBytes += json.length
    if (isBorder(key, meanRows) || shard.rows.length >= 4 * meanRows || shardBytes >= SHARD_BYTES) {
      yield shard
      shard = null
      shardBytes = 0
    }
  }
  if (shard) yield shard
}

function isBorder(key: string, meanRows: number): boolean {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  return ((hash >>> 8) ^ hash) % meanRows === 0
}
