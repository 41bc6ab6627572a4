import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { PACK_BYTES } from '#core/limits.ts'
import type { BlobStore } from '#core/ports/blob-store.ts'
import type { HostRepository } from '#core/ports/git-host.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import {
  type CommitSha,
  FORMAT_VERSION,
  type Location,
  type RowOf,
  RULES_VERSION,
  type SnapshotHeader,
  TABLES,
  type TableIndex,
  type TableName,
} from '#core/snapshot/format.ts'
import { headerKey, packKey } from '#core/snapshot/keys.ts'
import { encodeText } from '#core/text.ts'

/** Writes one snapshot: records and tables into packs as they come, the header last. Same calls, same bytes. */
export interface SnapshotWriter<Written = WrittenSnapshot> {
  /**
   * Stores the bytes of one file, behind what was added before. Compressing goes on beside the caller, who may add more meanwhile;
   * whoever adds without waiting bounds how much that is.
   */
  addRecord(bytes: Uint8Array): Promise<Location>
  /** Stores a table. Rows come in byte order of their keys, every key once. */
  addTable<Name extends TableName>(name: Name, rows: Iterable<readonly [key: string, row: RowOf<Name>]>): Promise<void>
  /** Writes what is left and then the header: from here on the commit is ready. Tables that were not added are empty. */
  finish(rest: Pick<SnapshotHeader, 'truncated' | 'search' | 'root'>): Promise<Written>
}

/** A writer into packs, which also takes bytes as they are. */
export interface PackWriter extends SnapshotWriter {
  /**
   * Stores bytes uncompressed behind what was added before; where they lie, in one piece or in several: packs are filled to their end.
   * The bytes must not change afterwards.
   */
  addBytes(bytes: Uint8Array): Promise<Location[]>
}

export interface WrittenSnapshot {
  header: SnapshotHeader
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

export function createSnapshotWriter(blobs: BlobStore, repository: HostRepository, commit: CommitSha): PackWriter {
  const packs: SnapshotHeader['packs'] = []
  const tables = Object.fromEntries(
    Object.keys(TABLES).map(name => [name, { rows: 0, shards: [] } satisfies TableIndex]),
  ) as unknown as Record<TableName, TableIndex>
  const created = { objects: 0, bytes: 0 }
  let open: Uint8Array[] = []
  let openBytes = 0

  async function create(key: string, bytes: Uint8Array): Promise<void> {
    if ((await blobs.create(key, bytes)) === 'exists') return
    created.objects++
    created.bytes += bytes.length
  }

  async function sealPack(): Promise<void> {
    if (openBytes === 0) return
    const bytes = Buffer.concat(open, openBytes)
    const name = createHash('sha256').update(bytes).digest('hex').slice(0, 40)
    open = []
    openBytes = 0
    packs.push({ name, sizeBytes: bytes.length })
    await create(packKey(repository, name), bytes)
  }

  // Members are compressed side by side on the thread pool and placed in the order in which they came.
  let placed: Promise<unknown> = Promise.resolve()

  function addMember(bytes: Uint8Array): Promise<Location> {
    const compressed = compress(bytes)
    const location = placed.then(async () => place(await compressed))
    placed = location
    return location
  }

  async function place(member: Uint8Array): Promise<Location> {
    if (openBytes + member.length > PACK_BYTES) await sealPack()
    const location: Location = [packs.length, openBytes, member.length]
    open.push(member)
    openBytes += member.length
    return location
  }

  async function placePieces(bytes: Uint8Array): Promise<Location[]> {
    const pieces: Location[] = []
    for (let at = 0; at < bytes.length; ) {
      if (openBytes === PACK_BYTES) await sealPack()
      const piece = bytes.subarray(at, at + PACK_BYTES - openBytes)
      pieces.push(await place(piece))
      at += piece.length
    }
    return pieces
  }

  return {
    addRecord: addMember,

    addBytes(bytes) {
      const pieces = placed.then(() => placePieces(bytes))
      placed = pieces
      return pieces
    },

    async addTable(name, rows) {
      const table = tables[name]
      const members = createWindow<Location>()
      const starts: [firstKey: string, rowsBefore: number][] = []
      for (const shard of cutShards(rows, TABLES[name].shardRows)) {
        starts.push([shard.firstKey, table.rows])
        table.rows += shard.rows.length
        await members.add(addMember(encodeText(`[${shard.rows.join(',')}]`)))
      }
      const locations = await members.all()
      table.shards = starts.map(([firstKey, rowsBefore], index) => [firstKey, rowsBefore, locations[index] as Location])
    },

    async finish(rest) {
      await placed
      await sealPack()
      const header: SnapshotHeader = {
        format: FORMAT_VERSION,
        rules: RULES_VERSION,
        repositoryId: repository.id,
        commit,
        packs,
        tables,
        ...rest,
      }
      await create(headerKey(repository, commit), await compress(encodeText(canonicalJson(header))))
      return { header, ...created }
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
