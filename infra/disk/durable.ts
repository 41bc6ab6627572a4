import { link, mkdir, open, readdir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface NewFile {
  path: string
  /** Path of the temporary file: unused, in the same file system. */
  temporary: string
  bytes: Uint8Array
  mode: number
}

/**
 * Creates a file, unless the path exists. The folder must exist. Readers see the whole file or none, even after a crash. When it resolves,
 * the file is durable, whichever process created it. If it throws, the file may exist and not be durable yet: call it again.
 */
export async function createFile({ path, temporary, bytes, mode }: NewFile): Promise<'created' | 'exists'> {
  try {
    await writeSynced(temporary, bytes, mode)
    const outcome = await linkNew(temporary, path)
    await syncFolder(dirname(path))
    return outcome
  } finally {
    // Best effort: a failure must not turn a finished write into a failed one. `sweepLeftovers` removes the orphan.
    await unlink(temporary).catch(() => {})
  }
}

/** Creates a folder and its missing parents, readable by this user alone. What it created is durable when it resolves; what existed may not be. */
export async function makeFolder(path: string): Promise<void> {
  try {
    if (!(await tryMakeFolder(path))) return
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    // Some file systems refuse a folder although its parent exists: this attempt throws their error.
    if (!(await tryMakeFolder(path))) return
  }
  await syncFolder(dirname(path))
}

/** `false` when the path exists. */
async function tryMakeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Makes the names in a folder durable: without its name, a synced file is lost. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder as a file; NTFS journals names itself.
  if (process.platform === 'win32') return
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

async function writeSynced(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const handle = await open(path, 'wx', mode)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

// A link, because a rename would replace a file that another process created.
async function linkNew(from: string, to: string): Promise<'created' | 'exists'> {
  try {
    await link(from, to)
    return 'created'
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return 'exists'
    throw error
  }
}

/** Temporary files of interrupted writes. */
export interface Leftovers {
  files: number
  bytes: number
}

const AGE_MS = 60 * 60 * 1000

/**
 * Finds the files that killed processes left in a folder of temporary files. Skips files changed within the last hour: they may be in use.
 *
 * @param remove whether to remove the files, or only count them
 */
export async function sweepLeftovers(temporary: string, remove: boolean): Promise<Leftovers> {
  const found: Leftovers = { files: 0, bytes: 0 }
  for (const name of await readdir(temporary)) {
    const path = join(temporary, name)
    try {
      const left = await stat(path)
      if (!left.isFile() || left.mtimeMs >= Date.now() - AGE_MS) continue
      if (remove) await unlink(path)
      found.files++
      found.bytes += left.size
    } catch (error) {
      // Another process removed it first.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  return found
}
