import { lstatSync, statSync } from 'node:fs'

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
export type FileStamps = ReadonlyMap<string, FileStamp | Absent>

/** Stamps files while a value is computed from them. */
export class StampCollector {
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
export function isFresh(stamps: FileStamps): boolean {
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
