import { randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { access, type FileHandle, mkdir, open, readdir, rmdir, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { BlobStore } from '#core/ports/blob-store.ts'
import { requireCount, requireKey, requirePrefix } from '#core/ports/store-arguments.ts'
import { createFile, hasCode, makeFolder, syncFolder } from './durable.ts'
import { type Leftovers, sweepLeftovers } from './leftovers.ts'

// No key has this character, so the object `a/b` and the folder of `a/b/c` never meet.
const OBJECT_MARK = '~'
const REMEMBERED_FOLDERS = 10_000
const CREATE_TRIES = 10

export interface DiskBlobStore extends BlobStore {
  /** Files of writes that were broken off an hour ago or more. @param remove else they are only counted */
  leftovers(remove: boolean): Promise<Leftovers>
}

export interface DiskOptions {
  /** Opening changes nothing that is there. */
  keepLeftovers?: boolean
}

/**
 * Objects as files: the object `a/b` is `<folder>/o/a/b~`. Any number of processes may share the folder.
 * A write goes to `<folder>/tmp` first; what killed processes left there goes at the next opening an hour later.
 * A write that the system refuses throws the system's error and leaves everything as it was.
 */
export async function openDiskBlobStore(folder: string, { keepLeftovers = false }: DiskOptions = {}): Promise<DiskBlobStore> {
  const objects = resolve(folder, 'o')
  const temporary = resolve(folder, 'tmp')
  await makeFolder(objects)
  await makeFolder(temporary)
  if (!keepLeftovers) await sweepLeftovers(temporary, true)

  const durableFolders = new Set<string>()
  const pathOf = (key: string) => join(objects, `${key}${OBJECT_MARK}`)

  return {
    async create(key, bytes) {
      requireKey(key)
      const path = pathOf(key)
      for (let tries = 1; ; tries++) {
        try {
          await useFolder(objects, durableFolders, dirname(path))
          if (!(await isThere(path)))
            return await createFile({ path, temporary: join(temporary, randomUUID()), bytes, mode: 0o600 })
          // Whoever made it may not have come to this yet, and the caller will rely on the object.
          await syncFolder(dirname(path))
          return 'exists'
        } catch (error) {
          // The folder went with the last object in it, which somebody has removed meanwhile.
          durableFolders.clear()
          if (!hasCode(error, 'ENOENT') || tries === CREATE_TRIES) throw error
        }
      }
    },

    async read(key) {
      requireKey(key)
      return withFile(pathOf(key), async file => {
        const { mtime } = await file.stat()
        return { bytes: await file.readFile(), createdAt: mtime }
      })
    },

    async readRange(key, offset, length) {
      requireKey(key)
      requireCount('offset', offset)
      requireCount('length', length)
      return withFile(pathOf(key), async file => {
        const { size } = await file.stat()
        return readAt(file, offset, Math.max(0, Math.min(length, size - offset)))
      })
    },

    async list(prefix, { after = '', limit = Number.POSITIVE_INFINITY } = {}) {
      requirePrefix(prefix)
      if (limit !== Number.POSITIVE_INFINITY) requireCount('limit', limit)
      const keys: string[] = []
      if (limit === 0) return keys
      for await (const key of walk(objects, prefix, after)) {
        keys.push(key)
        if (keys.length === limit) break
      }
      return keys
    },

    async remove(key) {
      requireKey(key)
      const path = pathOf(key)
      try {
        await unlink(path)
        await syncFolder(dirname(path))
      } catch (error) {
        // It is gone, or even its folder with it.
        if (hasCode(error, 'ENOENT')) return
        throw error
      }
      await removeEmpty(objects, dirname(path))
    },

    leftovers: remove => sweepLeftovers(temporary, remove),

    async close() {},
  }
}

/**
 * Makes a folder below the root, which is durable. Every process syncs each folder into the one above it once:
 * that it exists does not say that the process which made it has come that far.
 */
async function useFolder(root: string, durable: Set<string>, path: string): Promise<void> {
  if (path === root || durable.has(path)) return
  await useFolder(root, durable, dirname(path))
  await mkdir(path, { recursive: true, mode: 0o700 })
  await syncFolder(dirname(path))
  if (durable.size >= REMEMBERED_FOLDERS) durable.clear()
  durable.add(path)
}

/** Removes a folder below the root and those above it, as far as nothing is in them. An empty one that stays does no harm. */
async function removeEmpty(root: string, path: string): Promise<void> {
  if (path === root) return
  try {
    await rmdir(path)
  } catch {
    return
  }
  await removeEmpty(root, dirname(path))
}

/** Keys in byte order that begin with `prefix` and lie behind `after`. Reads the folders that can hold such keys only. */
async function* walk(objects: string, prefix: string, after: string): AsyncGenerator<string> {
  const base = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const names = (await entries(join(objects, base))).map(entry =>
    entry.isDirectory() ? `${base}${entry.name}/` : `${base}${entry.name.slice(0, -OBJECT_MARK.length)}`,
  )
  // The `/` behind a folder puts it where its keys belong among its neighbours: `a`, `a-b`, `a/b`, `a0`.
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

async function isThere(path: string): Promise<boolean> {
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
