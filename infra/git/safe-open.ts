import { constants, existsSync, readlinkSync } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'

/**
 * Opens what lies at a real path for reading; `null` when nothing does, or when a component of the path is a link.
 *
 * On Linux the check is free of races: the kernel tells the real path of the open file. Elsewhere the path is resolved before and after
 * its identity is compared, which an attacker beats only by three changes at the right instants.
 *
 * @param path as `realpath` returns it
 * @param flags added to `O_RDONLY`, such as `O_DIRECTORY`
 */
export async function openReal(path: string, flags = 0): Promise<FileHandle | null> {
  const file = await openPlain(path, flags)
  if (file === null) return null
  let isReal = false
  try {
    isReal = await liesAt(file, path)
  } finally {
    if (!isReal) await file.close()
  }
  return isReal ? file : null
}

/** Opens without following a link in the last component, and without blocking on pipes; `null` when absent. */
function openPlain(path: string, flags: number): Promise<FileHandle | null> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | flags).catch(ifAbsent)
}

/** Linux shows the open files of this process here, and leads through an open folder to its entries. */
const DESCRIPTORS = '/proc/self/fd'
export const hasDescriptorPaths = process.platform === 'linux' && existsSync(DESCRIPTORS)

async function liesAt(file: FileHandle, path: string): Promise<boolean> {
  if (!hasDescriptorPaths) return isStillAt(file, path)
  // From the kernel's memory: sooner done than handed to another thread.
  const real = readlinkSync(`${DESCRIPTORS}/${file.fd}`)
  // A file that was replaced since it was opened lay there too.
  return real === path || real === `${path} (deleted)`
}

/** The check of systems other than Linux. */
export async function isStillAt(file: FileHandle, path: string): Promise<boolean> {
  if ((await realpath(path).catch(ifAbsent)) !== path) return false
  const [opened, found] = await Promise.all([file.stat({ bigint: true }), stat(path, { bigint: true }).catch(ifAbsent)])
  if (found === null || found.dev !== opened.dev || found.ino !== opened.ino) return false
  return (await realpath(path).catch(ifAbsent)) === path
}

/** A path to the opened folder itself on Linux, whatever takes its place; elsewhere its real path. */
export function pathOf(folder: FileHandle, path: string): string {
  return hasDescriptorPaths ? `${DESCRIPTORS}/${folder.fd}` : path
}

const SMALL_FILE_BYTES = 64 * 1024

/**
 * The beginning of the regular file at a real path as text; `null` when there is none. Follows no link and does not block on pipes.
 *
 * @param maxBytes default: 64 KiB
 */
export async function readRealText(path: string, maxBytes = SMALL_FILE_BYTES): Promise<string | null> {
  return readStart(await openReal(path), maxBytes)
}

/** As `readRealText`, for a path whose folders may be links. */
export async function readSmallFile(path: string): Promise<string | null> {
  return readStart(await openPlain(path, 0), SMALL_FILE_BYTES)
}

async function readStart(file: FileHandle | null, maxBytes: number): Promise<string | null> {
  if (file === null) return null
  try {
    if (!(await file.stat()).isFile()) return null
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
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
