import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Whether the folder belongs to a repository, as git finds it: by `.git` in the folder or above. */
export function isInWorkTree(folder: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true
    if (at === dirname(at)) return false
  }
}
