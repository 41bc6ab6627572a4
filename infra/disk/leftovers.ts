import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from './durable.ts'

/** Files of writes that were broken off. */
export interface Leftovers {
  files: number
  bytes: number
}

const AGE_MS = 60 * 60 * 1000

/**
 * Looks for what killed processes left in a folder of temporary files. What changed within the last hour somebody may be writing.
 *
 * @param remove else it is only counted
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
      // Another process that tidies the folder was first.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  return found
}
