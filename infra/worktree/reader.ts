import { constants, type Stats } from 'node:fs'
import { lstat, open, readlink, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ReadError, type ReadLimits, type RepositoryReader, type TreeEntry } from '#core/ports/git-host.ts'
import { compareBytes } from '#core/text.ts'
import { ifAbsent } from '#infra/git/contained.ts'
import { GitError } from '#infra/git/process.ts'
import { type ListedPath, listFolder, listWithGit } from './listing.ts'
import { findWorktree, WorktreeError, type WorktreePlace } from './place.ts'

/**
 * A working folder as it lies there, read like a commit: in a git work tree what a commit of everything would hold, elsewhere every
 * file. Nothing outside the root is ever read, and no link is followed. What vanishes or changes while it is read is a missing blob.
 */
export interface Worktree extends RepositoryReader {
  readonly description: WorktreePlace
  /** What of the folder could not be seen. Known once `entries` ended. */
  readonly unseen: UnseenFiles
}

export interface UnseenFiles {
  /** Folders that may not be listed or entered. */
  folders: Set<string>
  /** Tracked files that a sparse checkout leaves out. */
  notCheckedOut: number
}

/**
 * Opens the working folder that holds `folder`. The limits' time starts now.
 *
 * @throws WorktreeError when there is no such folder, or it may not be read
 */
export async function openWorktree(folder: string, limits: Pick<ReadLimits, 'treeEntries' | 'seconds'>): Promise<Worktree> {
  return new WorktreeReader(await findWorktree(folder), limits)
}

interface KnownFile {
  path: string
  mode: TreeEntry['mode']
  sizeBytes: number
}

/** Files looked at side by side; each is at most as large as `maxBytes` of a reading. */
const SIDE_BY_SIDE = 16

class WorktreeReader implements Worktree {
  readonly description: WorktreePlace
  readonly unseen: UnseenFiles = { folders: new Set(), notCheckedOut: 0 }
  readonly #maxEntries: number
  readonly #timeout: AbortSignal
  readonly #closing = new AbortController()
  readonly #files = new Map<string, KnownFile>()
  #cut = false

  constructor(place: WorktreePlace, { treeEntries, seconds }: Pick<ReadLimits, 'treeEntries' | 'seconds'>) {
    this.description = place
    this.#maxEntries = treeEntries
    this.#timeout = AbortSignal.timeout(seconds * 1000)
  }

  get cut(): boolean {
    return this.#cut
  }

  async *entries(): AsyncGenerator<TreeEntry> {
    const looked = inOrder(await this.#list(), listed => this.#look(listed))
    for await (const entry of looked) {
      this.#checkTime()
      if (entry !== null) yield entry
    }
  }

  async *read(oids: Iterable<string>, maxBytes: number): AsyncGenerator<{ oid: string; bytes: Uint8Array | null }> {
    for await (const answer of inOrder(oids, async oid => ({ oid, bytes: await this.#bytesOf(oid, maxBytes) }))) {
      this.#checkTime()
      yield answer
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
  }

  /** In git's order: that of the whole paths. */
  async #list(): Promise<ListedPath[]> {
    const { root, gitDir } = this.description
    const signal = AbortSignal.any([this.#timeout, this.#closing.signal])
    const found = new Map<string, ListedPath>()
    const unnamable: ListedPath[] = []
    try {
      for await (const listed of gitDir === null ? listFolder(root) : listWithGit(root, gitDir, signal)) {
        this.#checkTime()
        if (listed.path === null) unnamable.push(listed)
        else if (listed.kind === 'unreadable_folder') this.unseen.folders.add(listed.path)
        else found.set(listed.path, listed)
        if (found.size + unnamable.length > this.#maxEntries) {
          this.#cut = true
          break
        }
      }
    } catch (cause) {
      this.#checkTime()
      if (!(cause instanceof GitError)) throw cause
      throw new WorktreeError(`git cannot list the files of ${root}: ${cause.message}`, { cause })
    }
    const listed = [...found.values()].sort((left, right) => compareBytes(left.path ?? '', right.path ?? ''))
    return [...listed, ...unnamable].slice(0, this.#maxEntries)
  }

  /** What lies at a listed path; `null` when nothing does that a commit could hold. */
  async #look({ path, kind }: ListedPath): Promise<TreeEntry | null> {
    if (path === null) return { path, mode: '100644', oid: NO_OID, sizeBytes: null }
    if (kind === 'submodule') return { path, mode: '160000', oid: NO_OID, sizeBytes: null }
    const absolute = join(this.description.root, path)
    const found = await lstat(absolute).catch(unlessForbidden)
    if (found === null && kind === 'not_checked_out') this.unseen.notCheckedOut++
    if (found === null) return null
    if (found === 'forbidden') {
      this.unseen.folders.add(path.slice(0, Math.max(0, path.lastIndexOf('/'))))
      return null
    }
    const mode = modeOf(found)
    // Behind a folder that is now a link lies something else than what git knows.
    if (mode === null || !(await this.#liesInside(absolute, path))) return null
    const oid = (this.#files.size + 1).toString(16).padStart(NO_OID.length, '0')
    this.#files.set(oid, { path, mode, sizeBytes: found.size })
    return { path, mode, oid, sizeBytes: found.size }
  }

  async #bytesOf(oid: string, maxBytes: number): Promise<Uint8Array | null> {
    const file = this.#files.get(oid)
    if (!file || file.sizeBytes > maxBytes) return null
    const absolute = join(this.description.root, file.path)
    try {
      if (!(await this.#liesInside(absolute, file.path))) return null
      const bytes =
        file.mode === '120000' ? await readlink(absolute, 'buffer').catch(ifAbsent) : await readRegular(absolute, file)
      return bytes?.length === file.sizeBytes ? bytes : null
    } catch (cause) {
      throw new ReadError('index.fetch_failed', 'the folder cannot be read now', { cause })
    }
  }

  /** Whether no folder on the way to the file is a link. */
  async #liesInside(absolute: string, path: string): Promise<boolean> {
    if (!path.includes('/')) return true
    const folder = dirname(absolute)
    return (await realpath(folder).catch(ifAbsent)) === folder
  }

  #checkTime(): void {
    if (this.#timeout.aborted) throw new ReadError('index.timeout', 'reading the folder took too long')
    this.#closing.signal.throwIfAborted()
  }
}

const NO_OID = '0'.repeat(40)

function unlessForbidden(error: unknown): 'forbidden' | null {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'EACCES' || code === 'EPERM' ? 'forbidden' : ifAbsent(error)
}

/** `null`: a pipe, a device or a folder. */
function modeOf(stats: Stats): TreeEntry['mode'] | null {
  if (stats.isSymbolicLink()) return '120000'
  if (!stats.isFile()) return null
  return (stats.mode & 0o100) === 0 ? '100644' : '100755'
}

async function readRegular(path: string, { sizeBytes }: KnownFile): Promise<Uint8Array | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(ifAbsent)
  if (file === null) return null
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.size !== sizeBytes) return null
    const bytes = Buffer.alloc(sizeBytes)
    for (let filled = 0; filled < sizeBytes; ) {
      const { bytesRead } = await file.read(bytes, filled, sizeBytes - filled, filled)
      if (bytesRead === 0) return null
      filled += bytesRead
    }
    return bytes
  } finally {
    await file.close()
  }
}

/** Results in the order of their items, some of them made ahead. */
async function* inOrder<Item, Result>(items: Iterable<Item>, make: (item: Item) => Promise<Result>): AsyncGenerator<Result> {
  const ahead: Promise<Result>[] = []
  try {
    for (const item of items) {
      const made = make(item)
      made.catch(() => {}) // it is told when its turn comes
      ahead.push(made)
      if (ahead.length === SIDE_BY_SIDE) yield await (ahead.shift() as Promise<Result>)
    }
    while (ahead.length > 0) yield await (ahead.shift() as Promise<Result>)
  } finally {
    await Promise.allSettled(ahead)
  }
}
