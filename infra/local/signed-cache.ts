import { lstatSync, statSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { memoryOf } from '#core/memory.ts'

/**
 * Registers a file, folder or link on which the value depends, before the computation reads it.
 *
 * `itself` (default): what lies at the path; of a folder only its identity counts, of a link not where it leads. `entries`: where the path
 * leads; of a folder also which names it holds.
 */
export type Watch = (path: string, what?: 'itself' | 'entries') => void

/** A computed value. `keep: false`: the watched files do not show when the value changes, so it is not cached. */
export interface Computed<Value> {
  value: Value
  keep: boolean
  /** Estimated memory of the value. Default: measured by `memoryOf`, which visits all of it. */
  bytes?: number
}

type Watched = NonNullable<Parameters<Watch>[1]>

/** Identifies a version of a file or of the entries of a folder, by identity and times, or a folder, by its identity alone. */
interface Signature {
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

interface Entry<Value> {
  value: Value
  /** Estimated memory of the value. */
  bytes: number
  signatures: ReadonlyMap<string, Signature | Absent>
}

/** Nothing lies at the path. */
interface Absent {
  what: Watched
  ino: null
}

interface Flight<Value> {
  order: number
  value: Promise<Value>
}

const MAX_BYTES = 16 * 1024 * 1024
/** Estimated memory of an entry besides its key, value and watched paths. */
const ENTRY_BYTES = 300

/**
 * Caches values computed from files until one of these files changes.
 *
 * A returned value was current at some instant after the call. Every `get` checks all files of the value synchronously: a few microseconds
 * each on a local disk, less than a turn through the thread pool. Callers may share a computation, but never one that began
 * before they called.
 */
export class SignedCache<Value> {
  readonly #entries: LRUCache<string, Entry<Value>>
  readonly #flights = new Map<string, Flight<Value>>()
  #order = 0

  /** @param maxBytes estimated memory of all values with their keys and watched paths; the least recently used is evicted first */
  constructor(maxBytes = MAX_BYTES) {
    const sizeCalculation = ({ bytes, signatures }: Entry<Value>, key: string) =>
      ENTRY_BYTES + memoryOf(key) + memoryOf(signatures) + bytes
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation })
  }

  /** Estimated memory of all entries. */
  get sizeBytes(): number {
    return this.#entries.calculatedSize
  }

  /** The cached value, or that of `compute`. @throws what `compute` throws */
  async get(key: string, compute: (watch: Watch) => Promise<Computed<Value>>): Promise<Value> {
    const order = this.#order++
    for (;;) {
      const entry = this.#valid(key)
      if (entry) return entry.value
      const flight = this.#flights.get(key)
      if (!flight) return this.#start(key, compute)
      if (flight.order > order) return flight.value
      await flight.value.catch(() => {}) // its own callers get the error
    }
  }

  #valid(key: string): Entry<Value> | null {
    const entry = this.#entries.get(key)
    if (!entry) return null
    for (const [key, signature] of entry.signatures) {
      if (isSame(signature, readSignature(key.slice(signature.what.length + 1), signature.what))) continue
      this.#entries.delete(key)
      return null
    }
    return entry
  }

  #start(key: string, compute: (watch: Watch) => Promise<Computed<Value>>): Promise<Value> {
    const value = this.#compute(key, compute).finally(() => this.#flights.delete(key))
    this.#flights.set(key, { order: this.#order++, value })
    return value
  }

  async #compute(key: string, compute: (watch: Watch) => Promise<Computed<Value>>): Promise<Value> {
    const signatures = new Map<string, Signature | Absent>()
    let settled = true
    const { value, keep, bytes } = await compute((path, what = 'itself') => {
      const key = `${what} ${path}`
      if (signatures.has(key)) return
      const signature = readSignature(path, what)
      signatures.set(key, signature)
      settled &&= isSettled(signature, Date.now())
    })
    if (keep && settled) this.#entries.set(key, { value, signatures, bytes: bytes ?? memoryOf(value) })
    return value
  }
}

function readSignature(path: string, what: Watched): Signature | Absent {
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

function isSame(before: Signature | Absent, now: Signature | Absent): boolean {
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

/** Whether the next change will change the signature: the last one was before the current tick of the file system's clock. */
function isSettled(signature: Signature | Absent, now: number): boolean {
  if (signature.ino === null || (signature.isFolder && signature.what === 'itself')) return true
  const tick = signature.changedNs % NS_PER_SECOND === 0n ? COARSE_TICK_MS : TICK_MS
  return now - Number(signature.changedNs / NS_PER_MS) > tick
}
