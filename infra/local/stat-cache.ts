import { lstatSync, statSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { memoryOf } from '#core/memory.ts'

/** A computed value. `keep: false`: the watched files do not show when the value changes, so it is not cached. */
export interface Computed<Value> {
  value: Value
  keep: boolean
  /** Estimated memory of the value. Default: measured by `memoryOf`, which visits all of it. */
  bytes?: number
}

interface Entry<Value> {
  value: Value
  /** Estimated memory of the value. */
  bytes: number
  stamps: FileStamps
}

interface Flight<Value> {
  order: number
  value: Promise<Value>
}

const MAX_BYTES = 16 * 1024 * 1024
/** Estimated memory of all entries that say that there is nothing. */
const ABSENT_BYTES = 4 * 1024 * 1024
/** Estimated memory of an entry besides its key, value and watched paths. */
const ENTRY_BYTES = 300

/**
 * Caches values computed from files until one of these files changes.
 *
 * A returned value was current at some instant after the call: every `get` checks all files of the value. Callers may share a computation,
 * but never one that began before their call.
 */
export class StatCache<Value> {
  /** Separate from `#absent`: names of nothing are endless, and must not evict values. */
  readonly #found: LRUCache<string, Entry<Value>>
  /** Entries whose value is `null`. */
  readonly #absent: LRUCache<string, Entry<Value>>
  readonly #flights = new Map<string, Flight<Value>>()
  #order = 0

  /** @param maxBytes estimated memory of all values with their keys and watched paths; the least recently used is evicted first */
  constructor(maxBytes = MAX_BYTES) {
    const sizeCalculation = ({ bytes, stamps }: Entry<Value>, key: string) =>
      ENTRY_BYTES + memoryOf(key) + memoryOf(stamps) + bytes
    this.#found = new LRUCache({ maxSize: maxBytes, sizeCalculation })
    this.#absent = new LRUCache({ maxSize: Math.min(maxBytes, ABSENT_BYTES), sizeCalculation })
  }

  /** Estimated memory of all entries. */
  get sizeBytes(): number {
    return this.#found.calculatedSize + this.#absent.calculatedSize
  }

  /** The cached value if it is current, else `null`. It computes nothing. */
  cached(key: string): { value: Value } | null {
    return this.#current(key)
  }

  /** The cached value, or that of `compute`. @throws what `compute` throws */
  async get(key: string, compute: (watch: Watch) => Promise<Computed<Value>>): Promise<Value> {
    const order = this.#order++
    for (;;) {
      const entry = this.#current(key)
      if (entry) return entry.value
      const flight = this.#flights.get(key)
      if (!flight) return this.#start(key, compute)
      if (flight.order > order) return flight.value
      await flight.value.catch(() => {}) // its own callers get the error
    }
  }

  #current(key: string): Entry<Value> | null {
    const entry = this.#found.get(key) ?? this.#absent.get(key)
    if (!entry) return null
    if (isFresh(entry.stamps)) return entry
    this.#found.delete(key)
    this.#absent.delete(key)
    return null
  }

  #keep(key: string, entry: Entry<Value>): void {
    const [here, there] = entry.value === null ? [this.#absent, this.#found] : [this.#found, this.#absent]
    there.delete(key)
    here.set(key, entry)
  }

  #start(key: string, compute: (watch: Watch) => Promise<Computed<Value>>): Promise<Value> {
    const value = this.#compute(key, compute).finally(() => this.#flights.delete(key))
    this.#flights.set(key, { order: this.#order++, value })
    return value
  }

  async #compute(key: string, compute: (watch: Watch) => Promise<Computed<Value>>): Promise<Value> {
    const collector = new StampCollector()
    const { value, keep, bytes } = await compute(collector.watch)
    const { stamps, isSettled } = collector
    if (keep && isSettled) this.#keep(key, { value, stamps, bytes: bytes ?? memoryOf(value) })
    return value
  }
}

/**
 * Registers a file, folder or link on which the value depends, before the computation reads it.
 *
 * `itself` (default): what lies at the path; of a folder only its identity counts, of a link not where it leads. `entries`: where the path
 * leads; of a folder also which names it holds.
 */
export type Watch = (path: string, what?: 'itself' | 'entries') => void

type Watched = NonNullable<Parameters<Watch>[1]>

/** Identifies a version of a file or of the entries of a folder, by identity and times, or a folder, by its identity alone. */
interface FileStamp {
  what: Watched
  isFolder: boolean
  dev: bigint
  ino: bigint
  /** For the identity of a folder: its birth time. */
  changedNs: bigint
  /** For the identity of a folder: 0. */
  modifiedNs: bigint
  sizeBytes: bigint
}

/** Nothing lies at the path. */
interface Absent {
  what: Watched
  ino: null
}

/** What lay at the watched paths, by `keyOf`. */
type FileStamps = ReadonlyMap<string, FileStamp | Absent>

/** Stamps files while a value is computed from them. */
class StampCollector {
  readonly stamps = new Map<string, FileStamp | Absent>()
  /** Whether the next change of each file will change its stamp. */
  isSettled = true

  readonly watch: Watch = (path, what = 'itself') => {
    const key = keyOf(path, what)
    if (this.stamps.has(key)) return
    // Before the look: after it, time may have passed in which the file changed again without a trace.
    const lookedAtMs = Date.now()
    const stamp = readStamp(path, what)
    this.stamps.set(key, stamp)
    this.isSettled &&= isSettled(stamp, lookedAtMs)
  }
}

/** Whether the files at all paths are unchanged. Synchronous: an `lstat` takes a few microseconds on a local disk, less than a task of the thread pool. */
function isFresh(stamps: FileStamps): boolean {
  for (const [key, stamp] of stamps) {
    if (!isSame(stamp, readStamp(pathOf(key, stamp.what), stamp.what))) return false
  }
  return true
}

function keyOf(path: string, what: Watched): string {
  return `${what} ${path}`
}

function pathOf(key: string, what: Watched): string {
  return key.slice(what.length + 1)
}

function readStamp(path: string, what: Watched): FileStamp | Absent {
  const stats = statOf(path, what)
  if (!stats) return { what, ino: null }
  const { dev, ino, size, ctimeNs, mtimeNs, birthtimeNs } = stats
  const isFolder = stats.isDirectory()
  return isFolder && what === 'itself'
    ? { what, isFolder, dev, ino, changedNs: birthtimeNs, modifiedNs: 0n, sizeBytes: 0n }
    : { what, isFolder, dev, ino, changedNs: ctimeNs, modifiedNs: mtimeNs, sizeBytes: size }
}

function statOf(path: string, what: Watched) {
  try {
    return (what === 'entries' ? statSync : lstatSync)(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined // unreachable counts as absent
  }
}

function isSame(before: FileStamp | Absent, now: FileStamp | Absent): boolean {
  if (before.ino === null || now.ino === null) return before.ino === now.ino
  return (
    before.ino === now.ino &&
    before.changedNs === now.changedNs &&
    before.modifiedNs === now.modifiedNs &&
    before.sizeBytes === now.sizeBytes &&
    before.dev === now.dev &&
    before.isFolder === now.isFolder
  )
}

const NS_PER_MS = 1_000_000n
const NS_PER_SECOND = 1_000_000_000n
/** Clocks of file systems tick at least every 10 ms, or every 2 s where times have whole seconds. */
const TICK_MS = 50
const COARSE_TICK_MS = 2_500

/** Whether the next change will change the stamp: when it was read, the last one was before the current tick of the file system's clock. */
function isSettled(stamp: FileStamp | Absent, lookedAtMs: number): boolean {
  if (stamp.ino === null || (stamp.isFolder && stamp.what === 'itself')) return true
  const tick = stamp.changedNs % NS_PER_SECOND === 0n ? COARSE_TICK_MS : TICK_MS
  return lookedAtMs - Number(stamp.changedNs / NS_PER_MS) > tick
}
