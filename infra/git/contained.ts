import type { Dirent } from 'node:fs'
import { constants } from 'node:fs'
import { lstat, open, readdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** How deep folders below `refs` may be nested. */
const REF_DEPTH = 64

/**
 * Whether everything that git reads lies in the repository's own folder: no alternate object folders, no links out of it,
 * and only files, folders and links (a pipe would block git).
 *
 * @param commonDir real path of the folder that holds `objects` and `refs`
 */
export async function isSelfContained(commonDir: string): Promise<boolean> {
  const top = await listFolder(commonDir)
  const wanted = top.filter(entry => READ_AT_TOP.has(entry.name))
  const checks = await Promise.all(
    wanted.map(entry => isContained(commonDir, commonDir, entry, entry.name === 'refs' ? REF_DEPTH : 2)),
  )
  return checks.every(Boolean) && !(await hasAlternates(commonDir))
}

const READ_AT_TOP = new Set(['HEAD', 'objects', 'refs', 'packed-refs', 'shallow'])

async function isContained(commonDir: string, folder: string, entry: Dirent, depth: number): Promise<boolean> {
  const path = join(folder, entry.name)
  if (entry.isFile()) return true
  if (entry.isSymbolicLink()) return isLinkContained(commonDir, path)
  if (!entry.isDirectory() || depth === 0) return false
  for (const inner of await listFolder(path)) {
    if (!inner.isFile() && !(await isContained(commonDir, path, inner, depth - 1))) return false
  }
  return true
}

async function isLinkContained(commonDir: string, path: string): Promise<boolean> {
  const target = await realpath(path).catch(ifAbsent)
  return target === null ? false : target.startsWith(commonDir + sep)
}

async function hasAlternates(commonDir: string): Promise<boolean> {
  const file = await lstat(join(commonDir, 'objects/info/alternates')).catch(ifAbsent)
  return file !== null && !(file.isFile() && file.size === 0)
}

async function listFolder(path: string): Promise<Dirent[]> {
  return (await readdir(path, { withFileTypes: true }).catch(ifAbsent)) ?? []
}

const SMALL_FILE_BYTES = 64 * 1024

/** The first 64 KiB of a regular file as text; `null` when there is no regular file. Does not follow links or block on pipes. */
export async function readSmallFile(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(ifAbsent)
  if (file === null) return null
  try {
    if (!(await file.stat()).isFile()) return null
    const { bytesRead, buffer } = await file.read(Buffer.alloc(SMALL_FILE_BYTES), 0, SMALL_FILE_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENXIO', 'EINVAL', 'ENAMETOOLONG'])

/** For `catch`: `null` when the error means that the file is absent or unreachable. Rethrows every other one, such as EMFILE. */
export function ifAbsent(error: unknown): null {
  if (ABSENT.has((error as NodeJS.ErrnoException).code ?? '')) return null
  throw error
}
