import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where Linux has a file system in memory. */
const MEMORY = '/dev/shm'
/** Type of a file system, of `statfs`. */
const TMPFS = 0x01021994
/** A run of all tests takes a part of it. Some containers have only 64 MiB. */
const FREE_BYTES = 4 * 1024 ** 3
/** The variable of the folder on disk that temporary files would be in otherwise. */
const DISK = 'MOUNTGLASS_TEST_DISK'

/**
 * Has all processes of a run make their temporary files in memory, where there is room for them: tests make and remove hundreds of thousands of
 * files, and a disk's file system takes a seventh of the processors for it. Does nothing where `TMPDIR` is set.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return
  const folder = mkdtempSync(join(MEMORY, 'mountglass-tests-'))
  // Servers of tests run as users of their own, in folders below it.
  chmodSync(folder, 0o711)
  process.env[DISK] = tmpdir()
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

function hasRoom(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY)
    return type === TMPFS && bavail * bsize >= FREE_BYTES
  } catch {
    return false
  }
}

/** A folder on another file system than that of `tmpdir()`. */
export function otherFileSystem(): string {
  return process.env[DISK] ?? MEMORY
}
