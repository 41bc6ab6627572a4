import type { CommitSha } from '#core/commit-sha.ts'
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
import { headerKey } from '#core/snapshot/store-keys.ts'
import { FORMAT_VERSION, RULES_VERSION } from '#core/snapshot/versions.ts'
import { encodeText } from '#core/text.ts'
import { gzipMember } from './gzip-member.ts'
import { CreatedObjects, PackSeries } from './pack-series.ts'
import { createReadingsWriter, type KnownText } from './text-readings.ts'

/**
 * Writes one snapshot: records and tables as they are added, the header last. Without reuse, the same calls write the same bytes. With reuse,
 * the header refers to parts that an earlier snapshot stored: the bytes differ, but every answer is the same.
 */
export interface SnapshotWriter<Written = WrittenSnapshot> {
  /**
   * Stores the bytes of one blob after everything added before, and resolves with their location. Compression runs in the background:
   * the caller may add more without waiting, and bounds how much.
   *
   * @param text what is known of the text, for the next commit; default: nothing
   */
  addRecord(oid: string, bytes: Uint8Array, text?: KnownText | null): Promise<Location>
  /** Refers to the record of an earlier snapshot. @throws Error when that has none which was verified */
  keepRecord(oid: string): Location
  /** Adds a table. Rows come in byte order of their keys, every key once. Its last shards may be stored later, by `finish`. */
  addTable<Name extends TableName>(name: Name, rows: Iterable<readonly [key: string, row: RowOf<Name>]>): Promise<void>
  /** Stores the last pack and then the header: from then on the commit is ready. Tables that were not added are empty. */
  finish(rest: Pick<SnapshotHeader, 'committedAt' | 'truncated' | 'search' | 'root'>): Promise<Written>
}

/** A snapshot writer that also stores uncompressed bytes. */
export interface PackWriter extends SnapshotWriter {
  /**
   * Stores the next bytes of the search section, uncompressed, and resolves with their locations: several where a pack is full or where
   * an earlier snapshot has some of the bytes. The caller must not change the bytes afterwards.
   */
  addBytes(bytes: Uint8Array): Promise<Location[]>
}

export interface WrittenSnapshot {
  header: SnapshotHeader
  /** This writer created the header; no other job was first. */
  isFirst: boolean
  /** Objects and bytes that this writer created; objects that existed already do not count. */
  objects: number
  bytes: number
}

/** @param reused parts of an earlier snapshot; `null`: everything is stored */
export function createSnapshotWriter(
  blobs: Pick<BlobStore, 'create'>,
  repository: HostRepository,
  commit: CommitSha,
  reused: ReusedParts | null = null,
): PackWriter {
  return new StoredSnapshotWriter(blobs, repository, commit, reused)
}

class StoredSnapshotWriter implements PackWriter {
  readonly #repository: HostRepository
  readonly #commit: CommitSha
  readonly #reused: ReusedParts | null
  readonly #created: CreatedObjects
  readonly #packs: PackSeries
  readonly #tables = new Map<TableName, AddedTable>()
  readonly #window = createWindow()
  readonly #readings = createReadingsWriter()
  readonly #readingMembers: Promise<Location>[]
  readonly #inOrder = createSerialQueue()

  constructor(blobs: Pick<BlobStore, 'create'>, repository: HostRepository, commit: CommitSha, reused: ReusedParts | null) {
    this.#repository = repository
    this.#commit = commit
    this.#reused = reused
    this.#created = new CreatedObjects(blobs)
    this.#packs = new PackSeries(this.#created, repository, reused?.packs ?? [])
    this.#readingMembers = reused?.readings.map(location => Promise.resolve(this.#packs.use(location))) ?? []
  }

  async addRecord(oid: string, bytes: Uint8Array, text: KnownText | null = null): Promise<Location> {
    if (text !== null && !this.#reused?.hasReading(oid)) this.#readings.add(oid, text)
    if (this.#readings.sizeBytes >= READINGS_BYTES) this.#addReadings()
    const known = this.#reused?.record(oid)
    if (known) return this.#packs.use(known)
    const compressed = compress(bytes)
    return this.#inOrder(async () => this.#packs.placeRecord(oid, bytes.length, await compressed))
  }

  keepRecord(oid: string): Location {
    const known = this.#reused?.record(oid)
    if (!known) throw new Error(`no earlier snapshot holds the blob ${oid}`)
    return this.#packs.use(known)
  }

  addBytes(bytes: Uint8Array): Promise<Location[]> {
    return this.#inOrder(async () => placePieces(this.#packs, (await this.#reused?.pieces(bytes)) ?? [{ fresh: bytes }]))
  }

  async addTable<Name extends TableName>(name: Name, rows: Iterable<readonly [key: string, row: RowOf<Name>]>): Promise<void> {
    const table: AddedTable = { rows: 0, shards: [] }
    for (const shard of cutShards(rows, TABLES[name].shardRows)) {
      const known = await this.#reused?.shard(name, shard.firstKey, shard.bytes)
      const location = known ? Promise.resolve(this.#packs.use(known)) : this.#addMember(shard.bytes)
      table.shards.push({ firstKey: shard.firstKey, rowsBefore: table.rows, location })
      table.rows += shard.rows
      await this.#window.add(location)
    }
    this.#tables.set(name, table)
  }

  async finish(rest: Parameters<PackWriter['finish']>[0]): Promise<WrittenSnapshot> {
    this.#addReadings()
    await this.#inOrder(async () => {
      for (const [oid, sizeBytes] of this.#reused?.unread() ?? []) await this.#packs.noteSize(oid, sizeBytes)
      await this.#packs.seal()
    })
    const header: SnapshotHeader = {
      format: FORMAT_VERSION,
      rules: RULES_VERSION,
      repositoryId: this.#repository.id,
      commit: this.#commit,
      packs: this.#packs.packs,
      usedBytes: this.#packs.usedBytes,
      tables: await placedTables(this.#tables),
      readings: await Promise.all(this.#readingMembers),
      ...rest,
    }
    const stored = await gzipMember(encodeText(canonicalJson(encodeHeader(header))))
    const isFirst = await this.#created.create(headerKey(this.#repository, this.#commit), stored)
    return { header, isFirst, objects: this.#created.objects, bytes: this.#created.bytes }
  }

  #addMember(bytes: Uint8Array): Promise<Location> {
    const compressed = compress(bytes)
    return this.#inOrder(async () => this.#packs.place(await compressed))
  }

  #addReadings(): void {
    if (this.#readings.sizeBytes === 0) return
    const added = this.#addMember(this.#readings.take())
    // Awaited at the end: until then a failure is told by the record that fails with it.
    added.catch(() => {})
    this.#readingMembers.push(added)
  }
}

/** Members are compressed concurrently, and placed in the order of the calls. */
function compress(bytes: Uint8Array): Promise<Uint8Array> {
  const compressed = gzipMember(bytes)
  // Awaited in its turn, which never comes if an earlier member fails.
  compressed.catch(() => {})
  return compressed
}

/** Size of a member of readings, before it is compressed. */
const READINGS_BYTES = 64 * 1024

interface AddedTable {
  rows: number
  shards: { firstKey: string; rowsBefore: number; location: Promise<Location> }[]
}

async function placedTables(added: ReadonlyMap<TableName, AddedTable>): Promise<Record<TableName, TableIndex>> {
  const tables = {} as Record<TableName, TableIndex>
  for (const name of Object.keys(TABLES) as TableName[]) {
    const { rows, shards } = added.get(name) ?? { rows: 0, shards: [] }
    const placed = shards.map(async ({ firstKey, rowsBefore, location }) => [firstKey, rowsBefore, await location] as const)
    tables[name] = { rows, shards: (await Promise.all(placed)).map(shard => [...shard]) }
  }
  return tables
}

async function placePieces(packs: PackSeries, pieces: readonly SectionPiece[]): Promise<Location[]> {
  const segments: Location[] = []
  for (const piece of pieces) {
    if ('fresh' in piece) await packs.placeBytes(piece.fresh, segments)
    else appendSegment(segments, packs.use(piece.known))
  }
  return segments
}

/** Runs tasks one after another in the order of the calls. After a failure every later task fails with the same error. */
function createSerialQueue(): <Value>(task: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  return task => {
    const done = last.then(task)
    last = done
    return done
  }
}

/** Bounds how much is compressed ahead: `add` waits while more than `size` of the latest are pending. */
function createWindow(size = 8): { add(work: Promise<unknown>): Promise<void> } {
  const pending: Promise<unknown>[] = []
  return {
    async add(work) {
      // `add` or `finish` rejects with the first failure.
      work.catch(() => {})
      pending.push(work)
      if (pending.length > size) await pending.shift()
    },
  }
}

/** A run of rows of a sorted table, stored as one gzip member. */
interface Shard {
  firstKey: string
  rows: number
  /** JSON array of `[key, row]`. */
  bytes: Uint8Array
}

/** A shard of larger rows is cut early. */
const SHARD_BYTES = 256 * 1024

/** Cuts sorted rows into shards of about `meanRows`. Borders depend on the keys alone: an added row changes one shard, not all later ones. */
function* cutShards(rows: Iterable<readonly [string, unknown]>, meanRows: number): Generator<Shard> {
  let firstKey = ''
  let shard: string[] = []
  let shardBytes = 0
  for (const [key, row] of rows) {
    if (shard.length === 0) firstKey = key
    const json = canonicalJson([key, row])
    shard.push(json)
    shardBytes += json.length
    if (isBorder(key, meanRows) || shard.length >= 4 * meanRows || shardBytes >= SHARD_BYTES) {
      yield encodeShard(firstKey, shard)
      shard = []
      shardBytes = 0
    }
  }
  if (shard.length > 0) yield encodeShard(firstKey, shard)
}

function encodeShard(firstKey: string, rows: readonly string[]): Shard {
  return { firstKey, rows: rows.length, bytes: encodeText(`[${rows.join(',')}]`) }
}

function isBorder(key: string, meanRows: number): boolean {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  return ((hash >>> 8) ^ hash) % meanRows === 0
}

/** The parts of an earlier snapshot that the next one refers to instead of storing them again. */
export interface ReusedParts {
  /** The first packs of the new snapshot. */
  readonly packs: readonly PackEntry[]
  /** The location of a record, if it was verified; else `null`. */
  record(oid: string): Location | null
  /** The members of readings that stay part of the snapshot. */
  readonly readings: readonly Location[]
  /** Whether one of these members has a reading of the blob. */
  hasReading(oid: string): boolean
  /** The location of a table's shard with exactly these bytes; else `null`. */
  shard(table: TableName, firstKey: string, bytes: Uint8Array): Promise<Location | null>
  /** Cuts the next bytes of the search section into pieces that are stored already and pieces that are not. */
  pieces(bytes: Uint8Array): Promise<SectionPiece[]>
  /** Blobs of known size that were not read so far and that no pack directory lists yet. */
  unread(): Iterable<readonly [oid: string, sizeBytes: number]>
}

/** A piece of a search section: the location of bytes that are stored already, or the bytes themselves. */
export type SectionPiece = { known: Location } | { fresh: Uint8Array }
