import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { HOST_NAMES } from '#core/address.ts'
import { compareBytes } from '#core/text.ts'
import { ifAbsent } from '../git/safe-open.ts'
import type { RepositoryName } from './location.ts'

const UNNAMED =
  'no address can have its name: use 1 to 100 of the characters A-Z a-z 0-9 . _ -, and no dot in front but for .github and .github-private'

/**
 * Names of folders below the root that look like repositories, in order. Whether they are served is not known yet.
 *
 * @param root real path
 * @param maxLooked bounds what is looked at: owners, and whatever lies in their folders
 * @param refuse told of repositories whose names no address can have
 */
export async function listNames(
  root: string,
  maxLooked: number,
  refuse: OnRefused = () => {},
): Promise<{ names: RepositoryName[]; isComplete: boolean }> {
  const names: RepositoryName[] = []
  const owners = await namesIn(root, maxLooked)
  let left = maxLooked - owners.names.length
  let isComplete = owners.isComplete
  for (const owner of owners.names.filter(name => HOST_NAMES.local.owner.test(name))) {
    const entries = await namesIn(join(root, owner), left)
    left -= entries.names.length
    isComplete &&= entries.isComplete
    const found = new Set<string>()
    for (const entry of entries.names) {
      const name = entry.replace(/\.git$/, '')
      if (found.has(name) || !(await hasGitDir(join(root, owner, entry)))) continue
      found.add(name)
      if (!HOST_NAMES.local.repository.test(name)) {
        refuse({ owner, name }, UNNAMED)
        continue
      }
      names.push({ owner, name })
    }
  }
  return { names, isComplete }
}

async function namesIn(folder: string, max: number): Promise<{ names: string[]; isComplete: boolean }> {
  const names: string[] = []
  const entries = await opendir(folder).catch(ifAbsent)
  if (entries === null) return { names, isComplete: true }
  let isComplete = true
  // Leaving the loop closes the folder.
  for await (const { name } of entries) {
    if (names.length >= max) {
      isComplete = false
      break
    }
    names.push(name)
  }
  return { names: names.sort(compareBytes), isComplete }
}

async function hasGitDir(folder: string): Promise<boolean> {
  const found = await Promise.all(['.git', 'HEAD'].map(name => lstat(join(folder, name)).catch(ifAbsent)))
  return found.some(entry => entry !== null)
}

/** Receives why something in the operator's folder is not served. Clients are never told. */
export type OnRefused = (name: RepositoryName, reason: string) => void

/** The most refusals that are reported and remembered: visitors choose which names are looked up, so there is no end of them. */
const MAX_TOLD = 1_000

/** Tells each refusal of a repository once. Reasons contain no text of the repository. */
export function tellOnce(tell: OnRefused): OnRefused {
  const told = new Set<string>()
  return (name, reason) => {
    const key = `${name.owner}/${name.name} ${reason}`
    if (told.has(key) || told.size >= MAX_TOLD) return
    told.add(key)
    tell(name, reason)
  }
}
