import { type Address, formatAddress } from '#core/address.ts'
import type { BrowseEntry } from '#core/contract/browse.ts'
import type { QueryInputOf } from '#core/contract/endpoints.ts'
import { isInside, parentOf, parseRepoPath } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'

/** Of a folder with more entries, those of later pages are not looked for. */
const PAGES_READ = 5
const PAGE_ENTRIES = '200'

/**
 * What is known of a file whose text is withheld: its title, its size and its license, as the list of its folder has them.
 *
 * @param code of the refusal
 * @returns `null` when the error is about something else, or the file was not found
 */
export async function loadWithheld(client: ApiClient, address: Address, path: string, code: string): Promise<BrowseEntry | null> {
  return code === 'file.not_served' ? await findEntry(client, address, path) : null
}

/**
 * A file or folder as the list of its folder has it; `null` when it was not found.
 *
 * @param files `all`: also one that agents do not get
 */
export async function findEntry(
  client: ApiClient,
  address: Address,
  path: string,
  files: 'all' | 'delivered' = 'delivered',
): Promise<BrowseEntry | null> {
  const file = parseRepoPath(path)
  if (file === null || file === '' || !isInside(address.path, file)) return null
  const asked: QueryInputOf<'browse'> = { path: parentOf(file), limit: PAGE_ENTRIES, ...(files === 'all' && { files }) }
  for (let page = 0; page < PAGES_READ; page++) {
    const result = await client.get('browse', formatAddress(address), asked)
    if (!result.ok || result.answer.status !== 'ready') return null
    const found = result.answer.entries.find(entry => entry.path === file)
    if (found) return found
    if (result.answer.nextCursor === null) return null
    asked.cursor = result.answer.nextCursor
  }
  return null
}
