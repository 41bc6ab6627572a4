import { randomUUID } from 'node:crypto'
import { type Dirent, statSync } from 'node:fs'
import { access, type FileHandle, mkdir, open, readdir, rmdir, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { BlobStore, ListOptions } from '#core/ports/blob-store.ts'
import { requireCount, requireKey, requirePrefix } from '#core/ports/store-arguments.ts'
import { createFile, hasCode, type Leftovers, makeFolder, sweepLeftovers, syncFolder } from './durable.ts'

// No key contains this character, so the file of `a/b` and the folder of `a/b/c` have different names.
const OBJECT_MARK = '~'
const CACHED_FOLDERS = 10_000
const CREATE_ATTEMPTS = 10

export interface DiskBlobStore extends BlobStore {
  /** Temporary files of writes that were interrupted at least an hour ago. @param remove whether to remove them, or only count them */
  leftovers(remove: boolean): Promise<Leftovers>
}

export interface DiskOptions {
  /** Opening removes no leftovers. */
  keepLeftovers?: boolean
}

/**
 * Blobs as files: the object `a/b` is `<folder>/o/a/b~`. Any number of processes may share the folder.
 * A write goes to `<folder>/tmp` first; the first opening an hour later removes what killed processes left there.
 * A write that the system refuses throws the system's error. If only making it durable failed, the object exists: call it again.
 */
export async function openDiskBlobStore(folder: string, { keepLeftovers = false }: DiskOptions = {}): Promise<DiskBlobStore> {
  const paths = new ObjectPaths(resolve(folder, 'o'), resolve(folder, 'tmp'))
  await makeFolder(paths.root)
  await makeFolder(paths.temporary)
  if (!keepLeftovers) await sweepLeftovers(paths.temporary, true)

  return {
    async create(key, bytes) {
      requireKey(key)
      return createObject(paths, paths.of(key), bytes)
    },

    async read(key) {
      requireKey(key)
      const path = paths.of(key)
      // Visitors who wait for a job ask for its snapshot many times a second. To open a file that is absent takes a thread and an error.
      if (statSync(path, { throwIfNoEntry: false }) === undefined) return null
      return withFile(path, async file => {
        const { mtime } = await file.stat()
        return { bytes: await file.readFile(), createdAt: mtime }
      })
    },

    async readRange(key, offset, length) {
      requireKey(key)
      requireCount('offset', offset)
      requireCount('length', length)
      return withFile(paths.of(key), async file => {
        const { size } = await file.stat()
        return readAt(file, offset, Math.max(0, Math.min(length, size - offset)))
      })
    },

    list: (prefix, options = {}) => listObjects(paths.root, prefix, options),

    async remove(key) {
      requireKey(key)
      await removeObject(paths.root, paths.of(key))
    },

    leftovers: remove => sweepLeftovers(paths.temporary, remove),

    async close() {},
  }
}

/** The folders of a store, and which of them are known to be durable. */
class ObjectPaths {
  readonly root: string
  readonly temporary: string
  readonly #durable = new Set<string>()

  constructor(root: string, temporary: string) {
    this.root = root
    this.temporary = temporary
  }

  of(key: string): string {
    return join(this.root, `${key}${OBJECT_MARK}`)
  }

  /**
   * Creates a folder below the root, durably. Every process syncs each folder into its parent once: that the folder exists does not
   * prove that the process which created it has synced it.
   */
  async makeDurable(path: string): Promise<void> {
    const unsynced: string[] = []
    for (let at = path; at !== this.root && !this.#durable.has(at); at = dirname(at)) unsynced.push(at)
    if (unsynced.length === 0) return
    await mkdir(path, { recursive: true, mode: 0o700 })
    // Together, for which the system needs hardly longer than for one.
    await Promise.all(unsynced.map(folder => syncFolder(dirname(folder))))
    if (this.#durable.size >= CACHED_FOLDERS) this.#durable.clear()
    for (const folder of unsynced) this.#durable.add(folder)
  }

  /** Forgets which folders are durable. */
  forget(): void {
    this.#durable.clear()
  }
}

async function createObject(paths: ObjectPaths, path: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
  for (let attempts = 1; ; attempts++) {
    try {
      await paths.makeDurable(dirname(path))
      if (!(await exists(path)))
        return await createFile({ path, temporary: join(paths.temporary, randomUUID()), bytes, mode: 0o600 })
      // The process that created the object may not have synced its name yet, and the caller relies on the object.
      await syncFolder(dirname(path))
      return 'exists'
    } catch (error) {
      // The folder is gone: another process removed the last object in it.
      paths.forget()
      if (!hasCode(error, 'ENOENT') || attempts === CREATE_ATTEMPTS) throw error
    }
  }
}

async function listObjects(
  root: string,
  prefix: string,
  { after = '', limit = Number.POSITIVE_INFINITY }: ListOptions,
): Promise<string[]> {
  requirePrefix(prefix)
  if (limit !== Number.POSITIVE_INFINITY) requireCount('limit', limit)
  const keys: string[] = []
  if (limit === 0) return keys
  for await (const key of walk(root, prefix, after)) {
    keys.push(key)
    if (keys.length === limit) break
  }
  return keys
}

async function removeObject(root: string, path: string): Promise<void> {
  try {
    await unlink(path)
    await syncFolder(dirname(path))
  } catch (error) {
    // The object is gone, or also its folder.
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  await removeEmpty(root, dirname(path))
}

/** Removes a folder below the root and its parents while they are empty. Best effort: an empty folder does no harm. */
async function removeEmpty(root: string, path: string): Promise<void> {
  if (path === root) return
  try {
    await rmdir(path)
  } catch {
    return
  }
  await removeEmpty(root, dirname(path))
}

/** Keys with the prefix that follow `after`, in byte order. Reads only folders that can hold one of them. */
async function* walk(objects: string, prefix: string, after: string): AsyncGenerator<string> {
  const base = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const names = (await entries(join(objects, base))).map(entry =>
    entry.isDirectory() ? `${base}${entry.name}/` : `${base}${entry.name.slice(0, -OBJECT_MARK.length)}`,
  )
  // With a `/` appended, a folder sorts where its keys belong: `a`, `a-b`, `a/b`, `a0`.
  for (const name of names.sort()) {
    if (!name.startsWith(prefix)) continue
    if (!name.endsWith('/')) {
      if (name > after) yield name
    } else if (name > after || after.startsWith(name)) {
      yield* walk(objects, name, after)
    }
  }
}

async function entries(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

async function withFile<Value>(path: string, use: (file: FileHandle) => Promise<Value>): Promise<Value | null> {
  let file: FileHandle
  try {
    file = await open(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}
