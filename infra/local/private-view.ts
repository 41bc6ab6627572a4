import { constants, lstatSync, mkdirSync, opendirSync, readdirSync, type Stats, unlinkSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, rmdir, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openReal, pathOf } from '../git/safe-open.ts'
import { prepareGitDir, TEMPORARY_PREFIX } from '../git/view.ts'
import {
  BRING_BOUNDS,
  type BringBounds,
  FileBringer,
  NotSelfContained,
  type SourceFolder,
  ViewTooLarge,
  ViewUnavailable,
} from './object-files.ts'
import { readShallow } from './refs.ts'

/** A private view that several borrowers share, counted by reference. After `discard` it is removed when the last borrower returns it. */
export class KeptView {
  readonly #opening: Promise<PrivateView>
  #view: PrivateView | null = null
  /** The last update, or the opening. */
  #running: Promise<unknown>
  /** An update that has not begun. */
  #next: Promise<string> | null = null
  #borrowers = 0
  #isDiscarded = false
  #removal: Promise<void> | null = null
  readonly #removed = Promise.withResolvers<void>()
  #isReady = false
  readonly #leaving = new AbortController()

  /** @param commonDir real path of the folder that holds `objects` */
  constructor(commonDir: string, bounds: BringBounds = BRING_BOUNDS) {
    this.#opening = openPrivateView(commonDir, { ...bounds, signal: this.#leaving.signal })
    this.#running = this.#opening
  }

  get isBorrowed(): boolean {
    return this.#borrowers > 0
  }

  /** Whether it was updated once: later updates bring only what changed. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Aborts when its removal begins. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  get heldFiles(): number {
    return this.#view?.heldFiles ?? 0
  }

  get copiedBytes(): number {
    return this.#view?.copiedBytes ?? 0
  }

  /** Resolves once the view is removed. */
  get removed(): Promise<void> {
    return this.#removed.promise
  }

  borrow(): void {
    this.#borrowers++
  }

  async giveBack(): Promise<void> {
    if (--this.#borrowers > 0) return
    if (this.#isDiscarded) this.remove()
    else await this.#view?.rest()
  }

  /** Updates the view and returns its git dir. A running update may have read older refs, so a caller waits for the next one, which all waiting callers share. */
  update(): Promise<string> {
    this.#next ??= this.#running
      .catch(() => {}) // its own callers get the error
      .then(() => {
        this.#next = null
        const running = this.#update()
        this.#running = running
        return running
      })
    return this.#next
  }

  async #update(): Promise<string> {
    this.#view = await this.#opening
    await this.#view.update()
    this.#isReady = true
    return this.#view.gitDir
  }

  /** Removes the view once it was given back. */
  discard(): void {
    this.#isDiscarded = true
    if (!this.isBorrowed) this.remove()
  }

  /** Removes the view after the running updates, which copy nothing more, also while it is borrowed. */
  remove(): void {
    this.#leaving.abort(new ViewUnavailable('the copy of the repository is being removed'))
    this.#removal ??= Promise.allSettled([this.#next, this.#running])
      .then(async () => (await this.#opening).remove())
      .catch(() => {}) // `removeLeftoverViews` finds what stays
    this.#removed.resolve(this.#removal)
  }
}

/**
 * A git dir of this process with the object files of a repository, and nothing else of it: no refs, alternates, configuration, hooks,
 * attributes, grafts, commit graph. Nothing that happens in the repository leads git elsewhere.
 */
interface PrivateView {
  readonly gitDir: string
  readonly heldFiles: number
  readonly copiedBytes: number
  /**
   * Brings what was added to the repository, then removes what it removed. Folders whose entries did not change are not read.
   * Not to be called while another call runs. Git may read the view at the same time, as it may while a repository is repacked.
   *
   * @throws NotSelfContained, ViewTooLarge
   */
  update(): Promise<void>
  /** To be called while no git reads the view: releases files that the repository removed. */
  rest(): Promise<void>
  remove(): Promise<void>
}

/** @param commonDir real path of the folder that holds `objects` */
export async function openPrivateView(commonDir: string, bounds: BringBounds = BRING_BOUNDS): Promise<PrivateView> {
  const gitDir = await mkdtemp(join(tmpdir(), TEMPORARY_PREFIX))
  try {
    await prepareGitDir(gitDir)
    await Promise.all([mkdir(join(gitDir, 'objects/pack')), mkdir(join(gitDir, STAGING))])
    return new LinkedView(commonDir, gitDir, bounds)
  } catch (error) {
    await rm(gitDir, { recursive: true, force: true })
    throw error
  }
}

/** Git reads no folder of this name. */
const STAGING = 'staging'
const LOOSE_FOLDER = /^[0-9a-f]{2}$/
const LOOSE_NAME = /^[0-9a-f]{38}$/
const PACK_NAME = /^[A-Za-z0-9_-]{1,200}\.(?:pack|idx)$/
/** Objects outside packs in one of the 256 folders: two million in all. */
const LOOSE_NAMES = 8_192
/** Packs, their indexes and what git adds to them. */
const PACK_NAMES = 40_000
/** Files between two turns of the event loop. They are looked at, linked and removed synchronously: each takes less than a turn through the thread pool. */
const BATCH = 64
/** Names that are listed between two turns of the event loop. */
const LISTED = 1_024
/** Clocks of file systems tick at least every 10 ms, or every 2 s where times have whole seconds. */
const TICK_MS = 2_500

class LinkedView implements PrivateView {
  readonly gitDir: string
  readonly #commonDir: string
  readonly #bringer: FileBringer
  /** By name of the folder below `objects`: identifies its entries. Absent when they may change without a trace. */
  readonly #seen = new Map<string, string>()
  /** Identifies the file `shallow` that was brought; empty when there was none. `null` when it may change without a trace. */
  #shallow: string | null = null

  constructor(commonDir: string, gitDir: string, bounds: BringBounds) {
    this.#commonDir = commonDir
    this.gitDir = gitDir
    this.#bringer = new FileBringer(join(gitDir, STAGING), bounds)
  }

  get heldFiles(): number {
    return this.#bringer.heldFiles
  }

  get copiedBytes(): number {
    return this.#bringer.copiedBytes
  }

  async update(): Promise<void> {
    const now = new Date()
    await utimes(this.gitDir, now, now) // unchanged views count as leftovers
    const objects = await openFolder(join(this.#commonDir, 'objects'))
    try {
      await requireNoAlternates(objects)
      const names = (await listNames(objects, LOOSE_NAMES)).filter(name => name === 'pack' || LOOSE_FOLDER.test(name))
      const gone: string[] = []
      for (const name of names) gone.push(...(await this.#bringFolder(objects, name)))
      // Last, as git does when it repacks: a reader that misses a removed file finds its objects elsewhere.
      for (const target of gone) await this.#bringer.remove(target)
      await this.#removeFoldersExcept(new Set(names))
    } finally {
      await objects.handle.close()
    }
    await this.#writeShallow()
  }

  rest(): Promise<void> {
    return this.#bringer.closeRetired()
  }

  async remove(): Promise<void> {
    try {
      await this.#removeObjects().catch(() => {}) // what is left is removed with the folder
      await rm(this.gitDir, { recursive: true, force: true, maxRetries: 3 })
    } finally {
      await this.#bringer.close()
    }
  }

  /** Brings the files of a folder. Returns the files of the view that are no longer in it. */
  async #bringFolder(objects: SourceFolder, name: string): Promise<string[]> {
    const lookedAtMs = Date.now()
    const stats = lstatSync(join(objects.at, name), { throwIfNoEntry: false })
    if (!stats) return []
    if (!stats.isDirectory()) throw new NotSelfContained(`objects/${name}`)
    const stamp = stampOf(stats)
    if (this.#seen.get(name) === stamp) return []
    this.#seen.delete(name)
    const folder = await openFolderIn(objects, name)
    try {
      const into = join(this.gitDir, 'objects', name)
      const gone = await this.#bringFiles(folder, into, name === 'pack')
      if (isSettled(stats, lookedAtMs)) this.#seen.set(name, stamp)
      return gone
    } finally {
      await folder.handle.close()
    }
  }

  async #bringFiles(folder: SourceFolder, into: string, arePacks: boolean): Promise<string[]> {
    const pattern = arePacks ? PACK_NAME : LOOSE_NAME
    const names = (await listNames(folder, arePacks ? PACK_NAMES : LOOSE_NAMES)).filter(name => pattern.test(name))
    const isNew = mkdirSync(into, { recursive: true }) !== undefined
    // Git looks for a pack when it sees its index.
    if (arePacks) names.sort((left, right) => Number(left.endsWith('.idx')) - Number(right.endsWith('.idx')))
    for (const [index, name] of names.entries()) {
      if (index % BATCH === BATCH - 1) await nextTurn()
      await this.#bringFile(folder, name, join(into, name), arePacks)
    }
    if (isNew) return []
    const wanted = new Set(names)
    return (await readdir(into)).filter(name => !wanted.has(name)).map(name => join(into, name))
  }

  async #bringFile(folder: SourceFolder, name: string, target: string, isPack: boolean): Promise<void> {
    const stats = lstatSync(join(folder.at, name), { throwIfNoEntry: false })
    if (!stats) return
    if (!stats.isFile()) throw new NotSelfContained(name)
    if (this.#bringer.has(target, stats)) return
    await (isPack ? this.#bringer.bringPack(folder, name, target) : this.#bringer.bringLoose(folder, name, target))
  }

  async #removeFoldersExcept(names: ReadonlySet<string>): Promise<void> {
    const folder = join(this.gitDir, 'objects')
    for (const name of await readdir(folder)) {
      if (names.has(name)) continue
      this.#seen.delete(name)
      for (const inner of await readdir(join(folder, name))) await this.#bringer.remove(join(folder, name, inner))
    }
  }

  async #removeObjects(): Promise<void> {
    const folder = join(this.gitDir, 'objects')
    let removed = 0
    // A copied pack may have a gigabyte, whose blocks take the system long to release.
    for (const name of readdirSync(folder).filter(one => LOOSE_FOLDER.test(one))) {
      for (const file of readdirSync(join(folder, name))) {
        unlinkSync(join(folder, name, file))
        if (++removed % BATCH === 0) await nextTurn()
      }
      // In the thread pool: a file system that tells its disk at once what became free takes milliseconds for each of the 256 folders.
      await rmdir(join(folder, name))
    }
  }

  /** Where the history of a shallow clone ends. */
  async #writeShallow(): Promise<void> {
    const lookedAtMs = Date.now()
    const stats = lstatSync(join(this.#commonDir, 'shallow'), { throwIfNoEntry: false })
    const stamp = stats ? stampOf(stats) : ''
    if (this.#shallow === stamp) return
    this.#shallow = null
    await this.#bringShallow()
    if (!stats || isSettled(stats, lookedAtMs)) this.#shallow = stamp
  }

  async #bringShallow(): Promise<void> {
    const oids = await readShallow(this.#commonDir)
    const target = join(this.gitDir, 'shallow')
    if (oids.length === 0) return rm(target, { force: true })
    const staged = join(this.gitDir, STAGING, 'shallow')
    await writeFile(staged, `${oids.join('\n')}\n`)
    await rename(staged, target)
  }
}

/** Identifies the entries of a folder, or a file that git replaces as a whole. */
function stampOf({ dev, ino, ctimeMs, mtimeMs }: Stats): string {
  return `${dev}:${ino}:${ctimeMs}:${mtimeMs}`
}

/** Whether the next change will change the signature. @param lookedAtMs before the look: the last change may be later than it */
function isSettled({ ctimeMs }: Stats, lookedAtMs: number): boolean {
  return lookedAtMs - ctimeMs > TICK_MS
}

/** Names in the folder, in pieces: there may be millions. @throws ViewTooLarge */
async function listNames({ at }: SourceFolder, max: number): Promise<string[]> {
  const names: string[] = []
  const folder = opendirSync(at, { bufferSize: LISTED })
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (names.push(entry.name) > max) throw new ViewTooLarge('it has too many object files: run git gc')
      if (names.length % LISTED === 0) await nextTurn()
    }
    return names
  } finally {
    folder.closeSync()
  }
}

async function requireNoAlternates({ at }: SourceFolder): Promise<void> {
  const file = lstatSync(join(at, 'info/alternates'), { throwIfNoEntry: false })
  if (file && !(file.isFile() && file.size === 0)) throw new NotSelfContained('objects/info/alternates')
}

/** @throws NotSelfContained when a component of the path is a link */
async function openFolder(path: string): Promise<SourceFolder> {
  const handle = await openReal(path, constants.O_DIRECTORY)
  if (handle === null) throw new NotSelfContained('objects')
  return { handle, at: pathOf(handle, path), path }
}

async function openFolderIn(parent: SourceFolder, name: string): Promise<SourceFolder> {
  const path = join(parent.path, name)
  const handle = await openReal(path, constants.O_DIRECTORY)
  if (handle === null) throw new NotSelfContained(`objects/${name}`)
  return { handle, at: pathOf(handle, path), path }
}
