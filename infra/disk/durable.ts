import { link, mkdir, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

export interface NewFile {
  path: string
  /** Where the bytes are written first: a free name in the same file system. */
  temporary: string
  bytes: Uint8Array
  mode: number
}

/**
 * Makes a file that is not there yet, in a folder that is. Durable when it resolves, whoever made the file:
 * readers see all of its bytes or no file, after a crash too. Nothing but the earlier state remains when it throws.
 */
export async function createFile({ path, temporary, bytes, mode }: NewFile): Promise<'created' | 'exists'> {
  try {
    await writeSynced(temporary, bytes, mode)
    const outcome = await linkNew(temporary, path)
    await syncFolder(dirname(path))
    return outcome
  } finally {
    // What cannot be removed now is an orphan like one of a killed process. It must not turn a finished write into a failed one.
    await unlink(temporary).catch(() => {})
  }
}

/** Makes a folder and those above it that are missing, for this user alone. Durable when it resolves. */
export async function makeFolder(path: string): Promise<void> {
  try {
    if (!(await madeFolder(path))) return
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    // Some places take no folder although the one above is there: then this is the answer.
    if (!(await madeFolder(path))) return
  }
  await syncFolder(dirname(path))
}

async function madeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Makes the names in a folder durable: a synced file is lost with its name. */
export async function syncFolder(path: string): Promise<void> {
  // Windows opens no folder as a file; NTFS keeps names in its own journal.
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

// A link, because a rename would put itself over the file of somebody else.
async function linkNew(from: string, to: string): Promise<'created' | 'exists'> {
  try {
    await link(from, to)
    return 'created'
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return 'exists'
    throw error
  }
}
