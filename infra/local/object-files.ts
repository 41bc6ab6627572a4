import { constants, linkSync, lstatSync, renameSync, type Stats } from 'node:fs'
import { type FileHandle, open, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasDescriptorPaths, ifAbsent, isStillAt } from '../git/safe-open.ts'

/** The repository reads something outside it, or something that is neither a file nor a folder. */
export class NotSelfContained extends Error {
  constructor(name: string) {
    super(`${name} of the repository is no regular file or folder`)
    this.name = 'NotSelfContained'
  }
}

/** The repository cannot be read now. */
export class ViewUnavailable extends Error {
  override name = 'ViewUnavailable'
}

/** The repository exceeds a bound. */
export class ViewTooLarge extends ViewUnavailable {
  constructor(what: string) {
    super(`the repository is too large to read: ${what}`)
    this.name = 'ViewTooLarge'
  }
}

/** An opened folder of a repository. */
export interface SourceFolder {
  handle: FileHandle
  /** Leads to the folder itself, see `pathOf`. */
  at: string
  /** Its real path. */
  path: string
}

export interface BringBounds {
  /** Packs and their indexes that are held open. */
  heldFiles: number
  /** Disk space of copies, where files can be neither held nor linked. */
  copiedBytes: number
  /** Whether one file more may be held by all private folders together. Default: yes. */
  mayHold?: () => boolean
  /** Called when a copy was counted, before it is made. @throws ViewUnavailable when all private folders together have too many */
  onCopy?: () => Promise<void>
  /** Ends copying. */
  signal?: AbortSignal
}

export const BRING_BOUNDS: BringBounds = { heldFiles: 64, copiedBytes: 1024 * 1024 * 1024 }

/**
 * Brings files of a repository into a private folder, by the cheapest way that the system allows:
 *
 * - **held**: packs are opened, and a link leads to the open file (Linux);
 * - **linked**: the file gets a second name (not across file systems, and not for files of other users);
 * - **copied**.
 *
 * Whatever takes the place of the file in the repository afterwards, the private folder keeps the file that was there.
 */
export class FileBringer {
  readonly #staging: string
  #staged = 0
  readonly #bounds: BringBounds
  /** By path in the private folder. */
  readonly #held = new Map<string, { handle: FileHandle; stats: Stats }>()
  /** Files that are about to be held. */
  #holding = 0
  /** Open files whose name is gone, while git may still open them by it. */
  readonly #retired: FileHandle[] = []
  /** Without paths of descriptors, `link` might follow a symlink that has replaced the file meanwhile, so files are copied. */
  #canLink = hasDescriptorPaths
  /** Disk space of each copy, by path in the private folder. */
  readonly #copies = new Map<string, number>()
  #copiedBytes = 0

  /** @param staging a folder on the file system of the private folder, which git does not read */
  constructor(staging: string, bounds: BringBounds = BRING_BOUNDS) {
    this.#staging = staging
    this.#bounds = bounds
  }

  get heldFiles(): number {
    return this.#held.size + this.#holding + this.#retired.length
  }

  get copiedBytes(): number {
    return this.#copiedBytes
  }

  /** Whether the private folder has this version of the file. */
  has(target: string, source: Stats): boolean {
    const held = this.#held.get(target)?.stats
    const found = held ?? lstatSync(target, { throwIfNoEntry: false })
    if (!found) return false
    if (found.ino === source.ino && found.dev === source.dev) return true
    // A copy has the times of its original.
    return !held && Math.abs(found.mtimeMs - source.mtimeMs) < 1 && found.size === source.size
  }

  /** @throws NotSelfContained, ViewTooLarge */
  async bringPack(folder: SourceFolder, name: string, target: string): Promise<void> {
    const file = await openFile(folder, name)
    if (file === null) return // removed since it was listed
    let isHeld = false
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw new NotSelfContained(name)
      if (this.#mayHold()) {
        await this.#hold(file, stats, target)
        isHeld = true
      } else if (!this.#tryLink(folder, name, target)) await this.#copy(file, stats, target)
    } finally {
      if (!isHeld) await file.close()
    }
  }

  /** @throws NotSelfContained, ViewTooLarge */
  async bringLoose(folder: SourceFolder, name: string, target: string): Promise<void> {
    if (this.#tryLink(folder, name, target)) return
    const file = await openFile(folder, name)
    if (file === null) return
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw new NotSelfContained(name)
      await this.#copy(file, stats, target)
    } finally {
      await file.close()
    }
  }

  async remove(target: string): Promise<void> {
    await rm(target, { force: true })
    this.#forget(target)
  }

  /** Closes open files whose name is gone. To be called while no git reads the private folder. */
  async closeRetired(): Promise<void> {
    await Promise.all(this.#retired.splice(0).map(handle => handle.close()))
  }

  async close(): Promise<void> {
    for (const target of [...this.#held.keys()]) this.#forget(target)
    await this.closeRetired()
  }

  #mayHold(): boolean {
    return canHold() && this.heldFiles < this.#bounds.heldFiles && this.#bounds.mayHold?.() !== false
  }

  /** The earlier file is forgotten once its successor has its name: until then, the name leads to it, and if anything fails, also later. */
  async #hold(handle: FileHandle, stats: Stats, target: string): Promise<void> {
    const staged = this.#stage()
    this.#holding++
    try {
      await symlink(`/proc/${process.pid}/fd/${handle.fd}`, staged)
      await rename(staged, target)
    } finally {
      this.#holding--
    }
    this.#forget(target)
    this.#held.set(target, { handle, stats })
  }

  #stage(): string {
    return join(this.#staging, String(this.#staged++))
  }

  /** For a file whose name is gone, or leads to another one. */
  #forget(target: string): void {
    const held = this.#held.get(target)
    if (held) this.#retired.push(held.handle)
    this.#held.delete(target)
    this.#copiedBytes -= this.#copies.get(target) ?? 0
    this.#copies.delete(target)
  }

  /** Synchronous: this takes some microseconds, and there may be a hundred thousand files. */
  #tryLink({ at }: SourceFolder, name: string, target: string): boolean {
    if (!this.#canLink) return false
    const staged = this.#stage()
    try {
      linkSync(join(at, name), staged)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? ''
      // Removed since it was listed, unless it is the folder of the view that is gone.
      if (code === 'ENOENT' && !lstatSync(join(at, name), { throwIfNoEntry: false })) return true
      if (!CANNOT_LINK.has(code)) throw error
      this.#canLink = code === 'EMLINK'
      return false
    }
    // The new name of a link is a link, too. Git never saw it.
    if (!lstatSync(staged).isFile()) throw new NotSelfContained(name)
    renameSync(staged, target)
    this.#forget(target)
    return true
  }

  async #copy(from: FileHandle, { size, atime, mtime }: Stats, target: string): Promise<void> {
    const bytes = Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES
    this.#copiedBytes += bytes
    if (this.#copiedBytes > this.#bounds.copiedBytes)
      throw new ViewTooLarge(`its files can only be copied, and have more than ${this.#bounds.copiedBytes} bytes`)
    await this.#bounds.onCopy?.()
    const staged = this.#stage()
    const to = await open(staged, 'wx', 0o600)
    try {
      await copyBytes(from, to, size, this.#bounds.signal)
      await to.utimes(atime, mtime)
    } finally {
      await to.close()
    }
    await rename(staged, target)
    this.#forget(target)
    this.#copies.set(target, bytes)
  }
}

/** File systems store files in blocks. Also bounds how many small files are copied. */
const BLOCK_BYTES = 4_096
const COPY_BYTES = 1024 * 1024

/** @throws the reason of `signal` */
async function copyBytes(from: FileHandle, to: FileHandle, sizeBytes: number, signal: AbortSignal | undefined): Promise<void> {
  const buffer = Buffer.alloc(Math.min(sizeBytes, COPY_BYTES))
  for (let copied = 0; copied < sizeBytes; ) {
    signal?.throwIfAborted()
    const { bytesRead } = await from.read(buffer, 0, Math.min(buffer.length, sizeBytes - copied), copied)
    if (bytesRead === 0) return // cut short in place
    await to.writeFile(buffer.subarray(0, bytesRead))
    copied += bytesRead
  }
}

const CANNOT_LINK = new Set(['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EROFS'])

/** `null` when it is gone or may not be read. @throws NotSelfContained when it is a link */
async function openFile({ at, handle, path }: SourceFolder, name: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(join(at, name), flags).catch((error: NodeJS.ErrnoException) => {
    if (['ENOENT', 'EACCES', 'EPERM'].includes(error.code ?? '')) return null
    if (ifAbsent(error) === null) throw new NotSelfContained(name)
    throw error
  })
  if (file === null || hasDescriptorPaths || (await isStillAt(handle, path))) return file
  await file.close()
  throw new NotSelfContained(name)
}

/** Whether git, another process of the same user, may open the files that this process holds: not if the kernel protects this process. */
function canHold(): boolean {
  return hasDescriptorPaths && lstatSync('/proc/self/fd').uid === process.geteuid?.()
}
