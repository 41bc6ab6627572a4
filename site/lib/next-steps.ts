import { type Address, formatAddress, parseAddress } from '#core/address.ts'
import type { BrowseEntry, BrowsePage } from '#core/contract/browse.ts'
import { baseNameOf, isInside, parentOf, parseRepoPath, type RepoPath } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'
import { nearNames } from './near-names.ts'

/** What a visitor may have meant by a path that leads to nothing. */
export interface NextSteps {
  /** An address that reaches the folder. */
  address: Address
  /** The nearest folder above the path that exists. */
  folder: RepoPath
  /** The first segment of the path that does not exist. */
  missing: string
  /** Entries of the folder with a similar name, best first. */
  near: BrowseEntry[]
}

/** Codes of errors after which a path is looked for. */
const LOST = ['mount.path_not_found', 'file.not_found', 'skill.not_found']
const FOLDERS_TRIED = 8
const FOLDER_ENTRIES = '200'
/** Many owners may have a repository of one name. */
const NEAR_REPOSITORIES = 5

/**
 * Looks for the nearest folder above a path, and for similar names in it.
 *
 * @param address whose mount exists and holds the path
 * @returns `null` when the error is about something else, or nothing was found
 */
export async function loadNextSteps(client: ApiClient, address: Address, path: string, code: string): Promise<NextSteps | null> {
  const lost = LOST.includes(code) ? parseRepoPath(path) : null
  if (lost === null || lost === '' || !isInside(address.path, lost)) return null
  let below = lost
  for (let turn = 0; turn < FOLDERS_TRIED && below !== address.path; turn++) {
    const folder = parentOf(below)
    const page = await readFolder(client, address, folder)
    if (page !== null) {
      const missing = baseNameOf(below)
      return { address, folder, missing, near: findNear(page.entries, missing) }
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

/**
 * Repositories of a host with a similar name, the nearest first: what may have been meant by the address of one that does not exist.
 *
 * @param served addresses of repositories that everyone may open
 */
export function findNearRepositories(served: readonly string[], { host, repository }: Address): Address[] {
  const addresses = served.map(address => parseAddress(address, [host]))
  const names = [...new Set(addresses.map(address => address.repository))]
  const near = nearNames(names, repository).flatMap(name => addresses.filter(address => address.repository === name))
  return near.slice(0, NEAR_REPOSITORIES)
}
