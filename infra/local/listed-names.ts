import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { HOST_NAMES } from '#core/address.ts'
import { compareBytes } from '#core/text.ts'
import { ifAbsent } from '#infra/git/contained.ts'
import type { PlaceName } from './place.ts'

/**
 * Names of folders below the root that look like repositories, in order, at most `max`. Whether they are served is not known yet.
 *
 * @param root real path
 */
export async function listNames(root: string, max: number): Promise<{ names: PlaceName[]; isComplete: boolean }> {
  const names: PlaceName[] = []
  for (const owner of await namesIn(root, HOST_NAMES.local.owner)) {
    const found = new Set<string>()
    for (const entry of await namesIn(join(root, owner), /^/)) {
      const name = entry.replace(/\.git$/, '')
      if (found.has(name) || !HOST_NAMES.local.repository.test(name) || !(await hasGitDir(join(root, owner, entry)))) continue
      if (names.length === max) return { names, isComplete: false }
      found.add(name)
      names.push({ owner, name })
    }
  }
  return { names, isComplete: true }
}

async function namesIn(folder: string, form: RegExp): Promise<string[]> {
  const names = (await readdir(folder).catch(ifAbsent)) ?? []
  return names.filter(name => form.test(name)).sort(compareBytes)
}

async function hasGitDir(folder: string): Promise<boolean> {
  const found = await Promise.all(['.git', 'HEAD'].map(name => lstat(join(folder, name)).catch(ifAbsent)))
  return found.some(entry => entry !== null)
}
