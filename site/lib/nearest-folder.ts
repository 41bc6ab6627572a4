import { type Address, formatAddress } from '#core/address.ts'
import type { BrowseEntry, BrowsePage } from '#core/contract/browse.ts'
import { baseNameOf, isInside, parentOf, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'
import { nearNames } from './near-names.ts'

/** The folder where a path stops leading to anything, and what a visitor may have meant. */
export interface NearestFolder {
  /** The nearest folder above the path that exists. */
  folder: RepoPath
  /** The first segment of the path that does not exist. */
  missing: string
  /** What follows that segment. */
  rest: string
  /** Entries of the folder with a similar name, best first. */
  near: BrowseEntry[]
}

const FOLDERS_TRIED = 8
const FOLDER_ENTRIES = '200'

/**
 * Looks for the nearest folder above a path that leads to nothing, and for similar names in it.
 *
 * @param address whose mount exists and holds the path
 * @returns `null` when no folder was found
 */
export async function findNearestFolder(client: ApiClient, address: Address, path: string): Promise<NearestFolder | null> {
  const lost = parseRepoPath(path)
  if (lost === null || lost === '' || !isInside(address.path, lost)) return null
  let below = lost
  for (let turn = 0; turn < FOLDERS_TRIED && below !== address.path; turn++) {
    const folder = parentOf(below)
    const page = await readFolder(client, address, folder)
    if (page !== null) {
      const missing = baseNameOf(below)
      return { folder, missing, rest: lost.slice(below.length + 1), near: findNear(page.entries, missing) }
    }
    below = folder
  }
  return null
}

async function readFolder(client: ApiClient, address: Address, path: RepoPath): Promise<BrowsePage | null> {
  const result = await client.get('browse', formatAddress(address), { path, limit: FOLDER_ENTRIES })
  return result.ok && result.answer.status === 'ready' ? result.answer : null
}

/** Entries whose name differs by a few letters, by its case, or by more words. */
export function findNear(entries: readonly BrowseEntry[], name: string): BrowseEntry[] {
  const byName = new Map(entries.map(entry => [baseNameOf(entry.path as RepoPath), entry]))
  return nearNames([...byName.keys()], name).flatMap(near => byName.get(near) ?? [])
}
