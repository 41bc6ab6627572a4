import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from './durable.ts'

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
