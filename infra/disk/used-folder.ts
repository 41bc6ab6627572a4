import { randomUUID } from 'node:crypto'
import { access, lstat, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hasCode, makeFolder } from './durable.ts'

/** A folder of a cache that this process uses: until it is released, `removeLeastUsed` of other processes leaves it. */
export interface UsedFolder {
  path: string
  /** Removes the folder, too, where nothing was ever stored in it. */
  release(): Promise<void>
}

const MARKER = 'used-by-'
const REMOVED = '.removed-'
const ATTEMPTS = 10

/**
 * Makes the folder `<root>/<name>`, if need be, and marks it as used. The time of its last change is that of its last use, since the marker is a
 * file in it.
 *
 * @throws Error of the system, where the folder cannot be written
 */
export async function useFolder(root: string, name: string): Promise<UsedFolder> {
  const path = join(root, name)
  const marker = join(path, `${MARKER}${process.pid}-${randomUUID().slice(0, 8)}@${hostname()}`)
  for (let attempts = 1; ; attempts++) {
    await makeFolder(path)
    try {
      await writeFile(marker, '', { flag: 'wx', mode: 0o600 })
      // Another process may just have moved the folder away, to remove it.
      await access(marker)
      return { path, release: () => release(path, marker) }
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || attempts === ATTEMPTS) throw error
    }
  }
}

async function release(path: string, marker: string): Promise<void> {
  await rm(marker, { force: true }).catch(() => {})
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  if (!entries.every(entry => entry.isDirectory())) return
  // A folder with something in it stays.
  for (const { name } of entries) await rmdir(join(path, name)).catch(() => {})
  await rmdir(path).catch(() => {})
}

/**
 * Removes folders below the root, those that were not used for the longest time first, until the others have at most `maxBytes`. Leaves what other
 * processes use. Best effort: what cannot be removed now is tried again the next time.
 */
export async function removeLeastUsed(root: string, maxBytes: number): Promise<void> {
  const names = await readdir(root)
  for (const name of names.filter(one => one.startsWith(REMOVED))) await remove(join(root, name))
  const folders = await Promise.all(names.filter(one => !one.startsWith('.')).map(name => describe(join(root, name))))
  let bytes = 0
  for (const folder of folders.flat().sort((left, right) => right.usedAtMs - left.usedAtMs)) {
    if (bytes + folder.bytes <= maxBytes || (await isUsed(folder.path))) bytes += folder.bytes
    else await moveAway(root, folder.path)
  }
}

interface DescribedFolder {
  path: string
  usedAtMs: number
  bytes: number
}

/** Empty where another process removed the folder. */
async function describe(path: string): Promise<DescribedFolder[]> {
  try {
    const { mtimeMs } = await stat(path)
    return [{ path, usedAtMs: mtimeMs, bytes: await sizeOf(path) }]
  } catch {
    return []
  }
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const sizes = await Promise.all(
    files.map(file =>
      lstat(file).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Renamed first, so that no other process finds a part of it. */
async function moveAway(root: string, path: string): Promise<void> {
  const away = join(root, `${REMOVED}${randomUUID()}`)
  const isMoved = await rename(path, away).then(
    () => true,
    () => false,
  )
  if (isMoved) await remove(away)
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {})
}

/** No command runs longer. */
const MARKER_MS = 24 * 60 * 60 * 1000

async function isUsed(path: string): Promise<boolean> {
  const names = (await readdir(path).catch(() => [])).filter(name => name.startsWith(MARKER))
  const alive = await Promise.all(names.map(name => isAlive(join(path, name), name)))
  return alive.includes(true)
}

/** Whether the process of a marker still runs. Of a process on another machine, which shares the folder, only the age tells. */
async function isAlive(path: string, name: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  if (found === null || Date.now() - found.mtimeMs > MARKER_MS) return false
  const [, pid, host] = /^used-by-(\d+)-[^@]*@(.*)$/s.exec(name) ?? []
  if (host !== hostname()) return true
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}
