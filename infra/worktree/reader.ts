import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lstat, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PACKAGE_BYTES } from '#core/limits.ts'
import { ReadError, type ReadLimits, type RepositoryReader, type TreeEntry } from '#core/ports/git-host.ts'
import { SKILL_FILE } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import { t } from '#words/t.ts'
import { GitError } from '../git/process.ts'
import { ifAbsent, openReal, pathOf } from '../git/safe-open.ts'
import { type ListedPath, listFolder, listWithGit } from './listing.ts'
import { findWorktree, WorktreeError, type WorktreePlace } from './place.ts'

/**
 * Reads a working folder like a commit: in a git work tree the files of a commit of everything, elsewhere every file. Never reads outside
 * the root or follows a link. A file that vanishes or changes while it is read counts as a missing blob.
 */
export interface Worktree extends RepositoryReader {
  readonly description: WorktreePlace
  /** Complete once `entries` ended. */
  readonly unseen: UnseenFiles
  /** 40 hexadecimal digits that change with every file: of paths, sizes and times, without reading a file. */
  fingerprint(): Promise<string>
  /** Digests of a file of any size; `null` when no regular file of this size lies there. @throws ReadError */
  digests(path: string, sizeBytes: number): Promise<FileDigests | null>
}

/** Files that the reader could not see. */
export interface UnseenFiles {
  /** Folders without the permission to list or enter them. */
  folders: Set<string>
  /** Tracked files omitted by a sparse checkout. */
  notCheckedOut: number
}

/**
 * Opens the work tree that contains `folder`, or the folder itself outside git. The time limit starts once it is found.
 *
 * @param find `findFormerWorktree` for a folder that may have been deleted
 * @throws WorktreeError when it cannot be read as a working folder
 */
export async function openWorktree(
  folder: string,
  limits: Pick<ReadLimits, 'treeEntries' | 'seconds'>,
  find = findWorktree,
): Promise<Worktree> {
  return new WorktreeReader(await find(folder), limits)
}

interface KnownFile {
  path: string
  mode: TreeEntry['mode']
  sizeBytes: number
}

/** Files read at once; each has at most `maxBytes`. */
const AT_ONCE = 16

class WorktreeReader implements Worktree {
  readonly description: WorktreePlace
  readonly unseen: UnseenFiles = { folders: new Set(), notCheckedOut: 0 }
  readonly #maxEntries: number
  readonly #seconds: number
  readonly #timeout: AbortSignal
  readonly #closing = new AbortController()
  readonly #files = new Map<string, KnownFile>()
  #cut = false

  constructor(place: WorktreePlace, { treeEntries, seconds }: Pick<ReadLimits, 'treeEntries' | 'seconds'>) {
    this.description = place
    this.#maxEntries = treeEntries
    this.#seconds = seconds
    this.#timeout = AbortSignal.timeout(seconds * 1000)
  }

  get cut(): boolean {
    return this.#cut
  }

  async fingerprint(): Promise<string> {
    const hash = createHash('sha1')
    const lines = inOrder(await this.#list(), async ({ path, kind }) => {
      const found = path === null ? null : await lstat(join(this.description.root, path), { bigint: true }).catch(() => null)
      return JSON.stringify([path, kind, found && [found.mode, found.size, found.mtimeNs, found.ctimeNs, found.ino].map(String)])
    })
    for await (const line of lines) hash.update(`${line}\n`)
    return hash.digest('hex')
  }

  async digests(path: string, sizeBytes: number): Promise<FileDigests | null> {
    try {
      return await digestFile(join(this.description.root, path), sizeBytes, () => this.#checkTime())
    } catch (cause) {
      if (cause instanceof ReadError) throw cause
      throw new ReadError('index.fetch_failed', `${path} cannot be read now`, { cause })
    }
  }

  async *entries(): AsyncGenerator<TreeEntry> {
    const looked: TreeEntry[] = []
    for await (const entry of inOrder(await this.#list(), listed => this.#look(listed))) {
      this.#checkTime()
      if (entry !== null) looked.push(entry)
    }
    const files = looked.flatMap(({ path, sizeBytes }) => (path === null || sizeBytes === null ? [] : [{ path, sizeBytes }]))
    const digested = perhapsEqual(files)
    for await (const entry of inOrder(looked, one => this.#identify(one, digested))) {
      this.#checkTime()
      yield entry
    }
  }

  /** Files of the same bytes have the same id, as in git, where that may matter: digests of all would take a reading of the whole folder. */
  async #identify(entry: TreeEntry, digested: ReadonlySet<string>): Promise<TreeEntry> {
    const file = this.#files.get(entry.oid)
    if (file === undefined || file.sizeBytes > PACKAGE_BYTES || !digested.has(file.path)) return entry
    const oid = await this.#blobIdOf(file).catch(() => null)
    if (oid === null) return entry
    this.#files.set(oid, file)
    return { ...entry, oid }
  }

  async #blobIdOf({ path, mode, sizeBytes }: KnownFile): Promise<string | null> {
    if (mode !== '120000') return (await this.digests(path, sizeBytes))?.blob ?? null
    const target = await readLink(join(this.description.root, path))
    return target && blobHash(target.length).update(target).digest('hex')
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

  /** Sorted by whole paths, as git does. */
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
      throw new WorktreeError(t('problem.gitCannotList', { root, reason: cause.message }), { cause })
    }
    const listed = [...found.values()].sort((left, right) => compareBytes(left.path ?? '', right.path ?? ''))
    return [...listed, ...unnamable].slice(0, this.#maxEntries)
  }

  /** The entry at a listed path; `null` when nothing there can be part of a commit. */
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
    // A folder of the path may have been replaced by a link.
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
      const bytes = file.mode === '120000' ? await readLink(absolute) : await readRegular(absolute, file)
      return bytes?.length === file.sizeBytes ? bytes : null
    } catch (cause) {
      throw new ReadError('index.fetch_failed', `${file.path} cannot be read now`, { cause })
    }
  }

  /** Whether no folder of the path is a link. */
  async #liesInside(absolute: string, path: string): Promise<boolean> {
    if (!path.includes('/')) return true
    const folder = dirname(absolute)
    return (await realpath(folder).catch(ifAbsent)) === folder
  }

  #checkTime(): void {
    if (this.#timeout.aborted) throw new ReadError('index.timeout', `reading the folder took more than ${this.#seconds} seconds`)
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

/** The text of a link; `null` when a folder of the path is a link, too. */
async function readLink(path: string): Promise<Uint8Array | null> {
  const folder = await openReal(dirname(path), constants.O_DIRECTORY)
  if (folder === null) return null
  try {
    return await readlink(join(pathOf(folder, dirname(path)), basename(path)), 'buffer').catch(ifAbsent)
  } finally {
    await folder.close()
  }
}

async function readRegular(path: string, { sizeBytes }: KnownFile): Promise<Uint8Array | null> {
  const file = await openReal(path)
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

/** Yields results in the order of the items, and computes up to `AT_ONCE` of them ahead. */
async function* inOrder<Item, Result>(items: Iterable<Item>, compute: (item: Item) => Promise<Result>): AsyncGenerator<Result> {
  const ahead: Promise<Result>[] = []
  try {
    for (const item of items) {
      const result = compute(item)
      result.catch(() => {}) // thrown when the result is due
      ahead.push(result)
      if (ahead.length === AT_ONCE) yield await (ahead.shift() as Promise<Result>)
    }
    while (ahead.length > 0) yield await (ahead.shift() as Promise<Result>)
  } finally {
    await Promise.allSettled(ahead)
  }
}

/** Digests of a file, in hexadecimal digits. */
interface FileDigests {
  /** The id that git gives these bytes. */
  blob: string
  sha256: string
}

function blobHash(sizeBytes: number) {
  return createHash('sha1').update(`blob ${sizeBytes}\0`)
}

const CHUNK_BYTES = 256 * 1024

/**
 * Reads a file of any size in pieces. `null` when no regular file of this size lies there any more, or when a component of the path is a link.
 *
 * @param path as `realpath` returns it
 * @param onPiece called after each piece; may throw
 */
async function digestFile(path: string, sizeBytes: number, onPiece: () => void): Promise<FileDigests | null> {
  const file = await openReal(path)
  if (file === null) return null
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.size !== sizeBytes) return null
    const hashes = { blob: blobHash(sizeBytes), sha256: createHash('sha256') }
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let read = 0
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, read)
      if (bytesRead === 0) break
      read += bytesRead
      // It grows while it is read.
      if (read > sizeBytes) return null
      hashes.blob.update(chunk.subarray(0, bytesRead))
      hashes.sha256.update(chunk.subarray(0, bytesRead))
      onPiece()
    }
    return read === sizeBytes ? { blob: hashes.blob.digest('hex'), sha256: hashes.sha256.digest('hex') } : null
  } finally {
    await file.close()
  }
}

interface SizedFile {
  path: string
  sizeBytes: number
}

/**
 * The files that may be copies of others, by their places and sizes: those in folders of skills whose `SKILL.md` are of one size, where another of
 * the folders has a file of the same size under the same name. Only their bytes tell whether they are.
 */
export function perhapsEqual(files: readonly SizedFile[]): Set<string> {
  const sizes = new Map(files.flatMap(({ path, sizeBytes }) => (isSkill(path) ? [[folderOf(path), sizeBytes] as const] : [])))
  const skillsOf = Map.groupBy(sizes.values(), size => size)
  const places = new Map<string, string[]>()
  for (const { path, sizeBytes } of files) {
    for (const folder of foldersAbove(path)) {
      const size = sizes.get(folder)
      if (size === undefined || (skillsOf.get(size)?.length ?? 0) < 2) continue
      const place = `${size} ${sizeBytes} ${path.slice(folder.length)}`
      const paths = places.get(place)
      if (paths) paths.push(path)
      else places.set(place, [path])
    }
  }
  return new Set([...places.values()].filter(paths => paths.length > 1).flat())
}

function isSkill(path: string): boolean {
  return path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`)
}

/** With its last slash; empty for the root. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

function foldersAbove(path: string): string[] {
  const folders = ['']
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at + 1))
  return folders
}
