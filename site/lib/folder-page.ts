import { type Address, formatAddress } from '#core/address.ts'
import type { BrowseEntry, BrowsePage } from '#core/contract/browse.ts'
import type { ApiClient, ApiResult } from './api-client.ts'
import { type LeftOut, loadLeftOut } from './left-out.ts'

/** Which entries of a folder a page lists: all, or those that agents get. */
export type FilesShown = 'all' | 'delivered'

/** One page of a folder. */
export interface FolderPage {
  page: BrowsePage
  /** Files of the folder that this page leaves out because agents do not get them; `null` where they were not counted to the end. */
  others: number | null
  /** What the manifest of this very folder leaves out, on the page that lists the manifest. */
  leftOut: LeftOut | null
}

type FolderResult =
  | Extract<ApiResult<'browse'>, { ok: false }>
  | {
      ok: true
      status: number
      answer: FolderPage | Exclude<Extract<ApiResult<'browse'>, { ok: true }>['answer'], { status: 'ready' }>
    }

/** Entries that one page reads at most to find those that agents get: a folder may have thousands of others. */
const READ_ENTRIES = '100'
const READ_TURNS = 10
const SHOWN_ENTRIES = 50

/** Reads a page of a folder: as the interface cuts it, or only what agents get, up to the bounds of one request. */
export async function loadFolderPage(
  client: ApiClient,
  address: Address,
  { path, cursor, files }: { path: string | undefined; cursor: string | undefined; files: FilesShown },
): Promise<FolderResult> {
  const given = { ...(path === undefined ? {} : { path }), files: 'all' } as const
  const entries: BrowseEntry[] = []
  let [next, others, turns] = [cursor, 0, 0]
  for (;;) {
    const limit = files === 'all' ? {} : { limit: READ_ENTRIES }
    const result = await client.get('browse', formatAddress(address), { ...given, ...limit, ...(next && { cursor: next }) })
    if (!result.ok) return result
    if (result.answer.status !== 'ready') return { ...result, answer: result.answer }
    const { nextCursor } = result.answer
    entries.push(...result.answer.entries.filter(entry => files === 'all' || isSent(entry)))
    others += countFiles(result.answer.entries.filter(entry => !isSent(entry)))
    turns++
    if (files === 'delivered' && nextCursor !== null && entries.length < SHOWN_ENTRIES && turns < READ_TURNS) {
      next = nextCursor
      continue
    }
    const page = { ...result.answer, entries }
    const isWhole = cursor === undefined && nextCursor === null
    const leftOut = await loadLeftOut(client, address, page)
    return { ok: true, status: result.status, answer: { page, others: isWhole ? others : null, leftOut } }
  }
}

/** Agents get the text, or a text below the folder. */
export function isDelivered(entry: Pick<BrowseEntry, 'delivered'>): boolean {
  return entry.delivered !== false
}

/** Agents get something of it: of a text that is withheld its title, of a skill its name and description. */
function isSent(entry: BrowseEntry): boolean {
  if (isDelivered(entry) || entry.describedOnly || entry.skill) return true
  return entry.kind === 'directory' && entry.counts.skills + entry.counts.documents > 0
}

function countFiles(entries: readonly BrowseEntry[]): number {
  return entries.reduce((sum, entry) => sum + (entry.kind === 'file' ? 1 : (entry.counts.files ?? 0)), 0)
}
