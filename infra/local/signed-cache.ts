import { statSync } from 'node:fs'

/** Notes a file or folder on which the value depends, before the value's maker reads it. Links are followed. */
export type Watch = (path: string) => void

/** What a maker made. `keep: false`: the files that were watched do not tell when the value changes. */
export interface Made<Value> {
  value: Value
  keep: boolean
}

/** What shows a change. A folder is told by what it is, a file also by when it was changed; `null` when there is neither. */
interface Signature {
  isFolder: boolean
  dev: bigint
  ino: bigint
  /** Of a folder: when it was made. */
  changedNs: bigint
  /** Of a folder: 0. */
  modifiedNs: bigint
  sizeBytes: bigint
}

interface Entry<Value> {
  value: Value
  signatures: ReadonlyMap<string, Signature | null>
}

interface Flight<Value> {
  order: number
  value: Promise<Value>
}

/**
 * Keeps values that are made from files for as long as these files stay as they were.
 *
 * A value given to a caller was true at some instant after the call. Every `get` looks at all files of the value, without
 * waiting: a few microseconds each on a local disk, less than a turn through the thread pool. Of callers that come while a
 * value is made, none is given what was read before it came, and one maker works for all of them.
 */
export class SignedCache<Value> {
  readonly #capacity: number
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #flights = new Map<string, Flight<Value>>()
  #order = 0

  /** @param capacity entries; the one unused for longest goes first */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  async get(key: string, make: (watch: Watch) => Promise<Made<Value>>): Promise<Value> {
    const order = this.#order++
    for (;;) {
      const entry = this.#valid(key)
      if (entry) return entry.value
      const flight = this.#flights.get(key)
      if (!flight) return this.#start(key, make)
      if (flight.order > order) return flight.value
      await flight.value.catch(() => {}) // its own callers hear of the error
    }
  }

  #valid(key: string): Entry<Value> | null {
    const entry = this.#entries.get(key)
    if (!entry) return null
    this.#entries.delete(key)
    for (const [path, signature] of entry.signatures) {
      if (!isSame(signature, readSignature(path))) return null
    }
    this.#entries.set(key, entry)
    return entry
  }

  #start(key: string, make: (watch: Watch) => Promise<Made<Value>>): Promise<Value> {
    const value = this.#make(key, make).finally(() => this.#flights.delete(key))
    this.#flights.set(key, { order: this.#order++, value })
    return value
  }

  async #make(key: string, make: (watch: Watch) => Promise<Made<Value>>): Promise<Value> {
    const signatures = new Map<string, Signature | null>()
    let settled = true
    const { value, keep } = await make(path => {
      if (signatures.has(path)) return
      const signature = readSignature(path)
      signatures.set(path, signature)
      settled &&= isSettled(signature, Date.now())
    })
    if (keep && settled) {
      this.#entries.set(key, { value, signatures })
      const oldest = this.#entries.keys().next()
      if (this.#entries.size > this.#capacity && !oldest.done) this.#entries.delete(oldest.value)
    }
    return value
  }
}

function readSignature(path: string): Signature | null {
  const stats = statOf(path)
  if (!stats) return null
  const { dev, ino, size, ctimeNs, mtimeNs, birthtimeNs } = stats
  return stats.isDirectory()
    ? { isFolder: true, dev, ino, changedNs: birthtimeNs, modifiedNs: 0n, sizeBytes: 0n }
    : { isFolder: false, dev, ino, changedNs: ctimeNs, modifiedNs: mtimeNs, sizeBytes: size }
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined // not to be reached: as good as absent
  }
}

function isSame(before: Signature | null, now: Signature | null): boolean {
  if (before === null || now === null) return before === now
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
/** Clocks of file systems tick every 10 ms at the slowest, or every 2 s where they know whole seconds only. */
const TICK_MS = 50
const COARSE_TICK_MS = 2_500

/** Whether the next change of the file will show: it was not changed within the present tick of the file system's clock. */
function isSettled(signature: Signature | null, now: number): boolean {
  if (signature === null || signature.isFolder) return true
  const tick = signature.changedNs % NS_PER_SECOND === 0n ? COARSE_TICK_MS : TICK_MS
  return now - Number(signature.changedNs / NS_PER_MS) > tick
}
