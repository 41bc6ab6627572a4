import type { CommitSha } from '#core/commit-sha.ts'
import { type BudgetHolder, createFairBudget } from '#core/concurrency/fair-budget.ts'
import { createFairGate, GateFull, nextSlot } from '#core/concurrency/fair-gate.ts'
import { RAW_FILE_BYTES } from '#core/limits.ts'
import { type ByteRange, type RawFile, RawFileError, type RawFileReader } from '#core/ports/raw-file.ts'
import { parseRepoPath, ROOT } from '#core/repo-path.ts'
import { openBlobStream } from './blob-stream.ts'
import { type ObjectBatch, openObjectBatch } from './object-batch.ts'
import type { GitOptions } from './process.ts'
import { parseTree, readCommit, readObject, type TreeItem } from './tree-objects.ts'
import type { GitView } from './view.ts'

/** Reads raw files within bounds: of git processes, and of the bytes that are held for clients. */
export interface RawFiles {
  /**
   * The file or link at a path of a commit; `null` when there is none.
   *
   * @throws RawFileError
   */
  open(request: RawFileRequest): Promise<RawFile | null>
  /** Ends idle git processes. The signals of the requests end the others. */
  close(): Promise<void>
}

export interface RawFileRequest extends RawFileReader {
  /** Opens the repository for reading; `null` when there is none that may be read. Every view is removed once. */
  openView: () => Promise<GitView | null>
  /** Identifies the repository; bounds what its files may hold. */
  repository: string
  commit: CommitSha
  path: string
}

/** Searches for a file, of a few milliseconds each. They wait in turn: a page may show dozens of pictures at once. */
const LOOKUPS = { limit: 8, limitEach: 4, maxWaitingEach: 64, maxWaiting: 256 }
const LOOKUP_MS = 10_000
/** Files of pages, such as texts and icons. */
const PAGE_FILE_BYTES = 64 * 1024
/** Files up to this size are read at once and compared with their id; then git ends, however slow the client is. */
const SMALL_BYTES = 1024 * 1024
/**
 * Bytes held for answers: those of files, and of git processes that send large ones. Each kind has bytes of its own, so the readers of large files
 * take nothing from those of pictures, nor these from those of texts. A client or repository that holds more than half makes room for others first.
 */
const HELD = [
  { upToBytes: PAGE_FILE_BYTES, limit: 64 * 1024 * 1024 },
  { upToBytes: SMALL_BYTES, limit: 128 * 1024 * 1024 },
  { upToBytes: Number.POSITIVE_INFINITY, limit: 512 * 1024 * 1024 },
]
/** A reader that is slower than this, or would take more than the time to take its bytes, is late. */
const LEAST_BYTES_PER_SECOND = 64 * 1024
const LONGEST_SECONDS = 240
/** A file that is held is given in such pieces, so that the pace of its client shows. */
const PIECE_BYTES = 64 * 1024
const TREE_BYTES = 16 * 1024 * 1024
/** A small file may be stored as a change of a larger one. Git itself makes no change of a file that is more than 32 times as large. */
const LOOKUP_LIMITS: Pick<GitOptions, 'resources' | 'config'> = {
  resources: { cpuSeconds: 10, fileBytes: 0, allocationBytes: 64 * 1024 * 1024, memoryBytes: 192 * 1024 * 1024 },
  config: { 'core.deltaBaseCacheLimit': '16m' },
}

export interface RawFileOptions {
  /** A monotonic time in milliseconds. Default: that of this process. */
  now?: (() => number) | undefined
  /** Of a file. Default: `RAW_FILE_BYTES`. */
  maxBytes?: number | undefined
}

export function createRawFiles(options: RawFileOptions = {}): RawFiles {
  return new BoundedRawFiles(options)
}

class BoundedRawFiles implements RawFiles {
  readonly #now: () => number
  readonly #maxBytes: number
  readonly #lookups = createFairGate(LOOKUPS)
  readonly #held = HELD.map(({ upToBytes, limit }) => ({ upToBytes, budget: createFairBudget({ limit, part: limit / 2 }) }))
  readonly #readers = createObjectReaders(LOOKUP_LIMITS)

  constructor({ now = () => performance.now(), maxBytes = RAW_FILE_BYTES }: RawFileOptions) {
    this.#now = now
    this.#maxBytes = maxBytes
  }

  async open(request: RawFileRequest): Promise<RawFile | null> {
    if ((parseRepoPath(request.path) ?? ROOT) === ROOT) return null
    try {
      const found = await this.#lookups(request.repository, () => this.#find(request))
      // Of a large file nothing but the size is known yet.
      if (found && found.sizeBytes > this.#maxBytes)
        throw new RawFileError('too_large', `the blob ${found.oid} has ${found.sizeBytes} bytes, more than ${this.#maxBytes}`)
      return found && this.#bounded(found, request)
    } catch (cause) {
      if (cause instanceof RawFileError) throw cause
      if (cause instanceof GateFull) throw new RawFileError('busy', 'too many files of the repository are asked for', { cause })
      throw new RawFileError('unavailable', 'the repository cannot be read now', { cause })
    }
  }

  close(): Promise<void> {
    return this.#readers.close()
  }

  async #find({ openView, repository, commit, path, client, signal }: RawFileRequest): Promise<FoundFile | null> {
    signal.throwIfAborted()
    const outOfTime = new AbortController()
    const searching = AbortSignal.any([signal, outOfTime.signal])
    let timer: NodeJS.Timeout | undefined
    try {
      return await this.#readers.use({ key: repository, openView, signal: searching }, async batch => {
        // The first question may start git. A search holds a place, so it does not wait behind the other steps of its client.
        await nextSlot(`search:${client}`, searching)
        // What other clients do before must not take the time of this search.
        timer ??= setTimeout(() => outOfTime.abort(new Error(`not found within ${LOOKUP_MS} ms`)), LOOKUP_MS)
        const oid = await findBlob(batch, commit, path)
        return oid === null ? null : await readSmall(batch, oid)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  #bounded({ oid, sizeBytes, bytes }: FoundFile, request: RawFileRequest): RawFile {
    const isVerified = bytes !== null
    const read = async (range: ByteRange): Promise<AsyncIterable<Uint8Array>> => {
      const pace = new ReaderPace(this.#now)
      // Git holds a file as a whole if it is stored as a change of another one.
      const amount = bytes === null ? STREAM_BYTES + sizeBytes : sizeBytes
      this.#acquire(request, amount, () => lateness(pace, range))
      const pieces = bytes === null ? await openBlobStream(request, { oid, sizeBytes }, range) : cut(bytes, range)
      pace.offered()
      return atPace(pieces, pace)
    }
    return { oid, sizeBytes, isVerified, read }
  }

  /** Holds the bytes until the signal aborts. @throws RawFileError */
  #acquire({ repository, client, signal, evict }: RawFileRequest, amount: number, pace: BudgetHolder['pace']): void {
    const budget = this.#held.find(({ upToBytes }) => amount <= upToBytes)?.budget
    const giveBack = budget?.acquire([`repository:${repository}`, `client:${client}`], amount, { pace, evict })
    if (!giveBack) throw new RawFileError('busy', 'too many bytes are held for other readers')
    if (signal.aborted) giveBack()
    else signal.addEventListener('abort', giveBack, { once: true })
  }
}

/** The pace of a late reader, as a part of the least one for these bytes; `null` for a reader that is not late. */
function lateness(pace: ReaderPace, { firstByte, lastByte }: ByteRange): number | null {
  const least = Math.max(LEAST_BYTES_PER_SECOND, (lastByte + 1 - firstByte) / LONGEST_SECONDS)
  const bytesPerSecond = pace.bytesPerSecond()
  return bytesPerSecond === null || bytesPerSecond >= least ? null : bytesPerSecond / least
}

/** Memory of a stream besides the file: a git process, a pipe, and buffers of this process. */
const STREAM_BYTES = 16 * 1024 * 1024

interface FoundFile {
  oid: string
  sizeBytes: number
  /** Verified; `null` for a large file. */
  bytes: Uint8Array | null
}

/** The id of the blob at the path; `null` when there is none. @throws RawFileError when the commit or a tree is missing or damaged */
async function findBlob(batch: ObjectBatch, commit: CommitSha, path: string): Promise<string | null> {
  const names = path.split('/')
  const last = names.pop()
  let { tree } = await readCommit(batch, commit).catch(asDamaged)
  for (const name of names) {
    const below = await findItem(batch, tree, name, 'tree')
    if (below === null) return null
    tree = below
  }
  return await findItem(batch, tree, last ?? '', 'blob')
}

/** Of several entries with the same name the first one counts, as in the index. */
async function findItem(batch: ObjectBatch, tree: string, name: string, type: TreeItem['type']): Promise<string | null> {
  const bytes = await readObject(batch, 'tree', tree, TREE_BYTES)
  if (typeof bytes === 'string') throw damaged(`the tree ${tree} is ${bytes}`)
  const wanted = Buffer.from(name)
  try {
    for (const item of parseTree(bytes)) if (item.type === type && item.name.equals(wanted)) return item.oid
  } catch (cause) {
    asDamaged(cause)
  }
  return null
}

/** @throws RawFileError when the blob is missing or damaged */
async function readSmall(batch: ObjectBatch, oid: string): Promise<FoundFile> {
  let sizeBytes: number | null = null
  for await (const info of batch.info([oid])) if (info?.type === 'blob') sizeBytes = info.sizeBytes
  if (sizeBytes === null) throw damaged(`the blob ${oid} is missing`)
  if (sizeBytes > SMALL_BYTES) return { oid, sizeBytes, bytes: null }
  const bytes = await readObject(batch, 'blob', oid, SMALL_BYTES)
  if (typeof bytes === 'string') throw damaged(`the blob ${oid} is ${bytes}`)
  return { oid, sizeBytes: bytes.length, bytes }
}

function damaged(message: string, options?: ErrorOptions): RawFileError {
  return new RawFileError('damaged', message, options)
}

function asDamaged(cause: unknown): never {
  throw damaged((cause as Error).message, { cause })
}

function* cut(bytes: Uint8Array, { firstByte, lastByte }: ByteRange): Generator<Uint8Array> {
  for (let at = firstByte; at <= lastByte; at += PIECE_BYTES) yield bytes.subarray(at, Math.min(at + PIECE_BYTES, lastByte + 1))
}

/** Gives the pieces, and measures how fast they are taken. */
async function* atPace(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, pace: ReaderPace): AsyncGenerator<Uint8Array> {
  pace.took(0)
  for await (const piece of pieces) {
    pace.offered()
    yield piece
    pace.took(piece.length)
  }
  // The client has still to take what is buffered for it.
  pace.offered()
}

/**
 * Lends git processes that read objects, each to one user at a time, and keeps them for a moment: to start one takes this process twenty
 * times as long as to read a small file.
 */
interface ObjectReaders {
  /**
   * What `use` answers; `null` when there is no view.
   *
   * @throws what `use` or `openView` throws, or the reason of the signal, which kills the process
   */
  use<Value>(asked: AskedReader, use: (batch: ObjectBatch) => Promise<Value>): Promise<Value | null>
  close(): Promise<void>
}

interface AskedReader {
  /** Identifies the repository. */
  key: string
  /** Opens the repository. Every view is removed once. */
  openView: () => Promise<GitView | null>
  signal: AbortSignal
}

const IDLE_MS = 5_000
/** All repositories together. */
const IDLE_READERS = 8
/** A view may be older than what was pushed since. */
const AGE_MS = 60_000

/** @param options of the git processes */
function createObjectReaders(options: Pick<GitOptions, 'resources' | 'config'>): ObjectReaders {
  return new LentReaders(options)
}

interface Reader {
  key: string
  view: GitView
  batch: ObjectBatch
  /** Kills git. */
  ending: AbortController
  openedAtMs: number
  /** Ends the reader while it is idle. */
  timer: NodeJS.Timeout | undefined
}

class LentReaders implements ObjectReaders {
  readonly #options: Pick<GitOptions, 'resources' | 'config'>
  /** The one that has been idle longest comes first. */
  readonly #idle = new Set<Reader>()
  #isClosed = false

  constructor(options: Pick<GitOptions, 'resources' | 'config'>) {
    this.#options = options
  }

  async use<Value>(asked: AskedReader, use: (batch: ObjectBatch) => Promise<Value>): Promise<Value | null> {
    const idle = this.#takeIdle(asked.key)
    if (idle !== null) {
      try {
        return await this.#lend(idle, asked.signal, use)
      } catch {
        // The view may be older than the object, and git may have ended meanwhile.
        asked.signal.throwIfAborted()
      }
    }
    const reader = await this.#open(asked)
    return reader && (await this.#lend(reader, asked.signal, use))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#idle].map(reader => this.#end(reader)))
  }

  async #lend<Value>(reader: Reader, signal: AbortSignal, use: (batch: ObjectBatch) => Promise<Value>): Promise<Value> {
    const kill = () => reader.ending.abort(signal.reason)
    signal.addEventListener('abort', kill)
    if (signal.aborted) kill()
    try {
      const value = await use(reader.batch)
      await this.#keep(reader)
      return value
    } catch (error) {
      await this.#end(reader)
      throw error
    } finally {
      signal.removeEventListener('abort', kill)
    }
  }

  async #open({ key, openView }: AskedReader): Promise<Reader | null> {
    const view = await openView()
    if (view === null) return null
    const ending = new AbortController()
    const batch = openObjectBatch({ ...this.#options, gitDir: view.gitDir, signal: ending.signal })
    return { key, view, batch, ending, openedAtMs: performance.now(), timer: undefined }
  }

  #takeIdle(key: string): Reader | null {
    for (const reader of this.#idle) {
      if (reader.key !== key) continue
      this.#idle.delete(reader)
      clearTimeout(reader.timer)
      return reader
    }
    return null
  }

  async #keep(reader: Reader): Promise<void> {
    const isUsable = !this.#isClosed && !reader.ending.signal.aborted && performance.now() - reader.openedAtMs < AGE_MS
    if (!isUsable) return await this.#end(reader)
    this.#idle.add(reader)
    reader.timer = setTimeout(() => void this.#end(reader), IDLE_MS).unref()
    const [oldest] = this.#idle
    if (this.#idle.size > IDLE_READERS && oldest) await this.#end(oldest)
  }

  async #end(reader: Reader): Promise<void> {
    this.#idle.delete(reader)
    clearTimeout(reader.timer)
    await reader.batch.close()
    await reader.view.remove()
  }
}

/** What a client took counts for this time: the pace is an average in which older bytes count exponentially less. */
const PACE_MS = 10_000

/**
 * How fast a client takes a file. Only the time counts for which the service waits for the client: a client does not become slow because git is.
 * A client that took much at first and then stands still becomes slow.
 */
class ReaderPace {
  readonly #now: () => number
  /** Since when the client has bytes to take; `null` while it waits for the service. */
  #waitingSince: number | null = null
  #waitedMs = 0
  #recentBytes = 0

  /** @param now a monotonic time in milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The client has bytes to take. */
  offered(): void {
    this.#waitingSince = this.#now()
  }

  /** The client took what was offered, and asks for more. */
  took(bytes: number): void {
    const waitMs = this.#waitMs()
    this.#recentBytes = this.#recentBytes * Math.exp(-waitMs / PACE_MS) + bytes
    this.#waitedMs += waitMs
    this.#waitingSince = null
  }

  /** `null` while the service has waited for the client for less than `PACE_MS`. */
  bytesPerSecond(): number | null {
    const waitMs = this.#waitMs()
    if (this.#waitedMs + waitMs < PACE_MS) return null
    return (this.#recentBytes * Math.exp(-waitMs / PACE_MS) * 1000) / PACE_MS
  }

  #waitMs(): number {
    return this.#waitingSince === null ? 0 : this.#now() - this.#waitingSince
  }
}
