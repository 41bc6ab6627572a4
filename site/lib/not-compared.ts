import { type Address, formatAddress } from '#core/address.ts'
import type { BrowseEntry } from '#core/contract/browse.ts'
import type { ChangesPage } from '#core/contract/changes.ts'
import type { License } from '#core/contract/shared.ts'
import { compareBytes } from '#core/text.ts'
import type { ApiClient } from './api-client.ts'
import { isSkillPath } from './links.ts'

/** A skill or document whose text a license withholds, so that it is not compared. */
export interface UncomparedItem {
  kind: 'skill' | 'document'
  /** Of the `SKILL.md`, or of the document. */
  path: string
  name: string
  license: License
}

/** Pages of folders that are read for the names, and entries of each. */
const READ_PAGES = 40
const PAGE_ENTRIES = '200'
const NAMED = 100

/**
 * The items of the new side that are not compared. The interface counts them and lists them folder by folder, so that of many folders not all are
 * named.
 *
 * @param address at the commit of the new side
 */
export async function loadUncompared(
  client: ApiClient,
  address: Address,
  { path, notCompared }: Pick<ChangesPage, 'path' | 'notCompared'>,
): Promise<UncomparedItem[]> {
  const found: UncomparedItem[] = []
  const all = Math.min(NAMED, notCompared.skills + notCompared.documents)
  const folders: { path: string; cursor?: string }[] = [{ path }]
  for (let pages = 0; pages < READ_PAGES && found.length < all; pages++) {
    const folder = folders.shift()
    if (folder === undefined) break
    const result = await client.get('browse', formatAddress(address), { ...folder, limit: PAGE_ENTRIES })
    if (!result.ok || result.answer.status !== 'ready') continue
    const { entries, nextCursor } = result.answer
    found.push(...entries.flatMap(entry => uncomparedOf(entry, folder.path === path)))
    // The rest of a folder comes before what lies deeper.
    if (nextCursor !== null) folders.unshift({ ...folder, cursor: nextCursor })
    folders.push(...entries.filter(hasItemsBelow).map(entry => ({ path: entry.path })))
  }
  return found.slice(0, all).sort((left, right) => compareBytes(left.path, right.path))
}

/** @param isFirst the entry lies in the folder that is compared, which no list has as an entry */
function uncomparedOf(entry: BrowseEntry, isFirst: boolean): UncomparedItem[] {
  const { skill, license, describedOnly } = entry
  if (!describedOnly || license === undefined) return []
  // A skill is the entry of its folder, and again its file there.
  if (skill) return entry.kind === 'directory' || isFirst ? [{ kind: 'skill', path: skill.path, name: skill.name, license }] : []
  if (entry.kind === 'directory' || entry.title === undefined || isSkillPath(entry.path)) return []
  return [{ kind: 'document', path: entry.path, name: entry.title, license }]
}

/** A folder of items other than its own skill. */
function hasItemsBelow(entry: BrowseEntry): boolean {
  return entry.kind === 'directory' && entry.counts.skills + entry.counts.documents > (entry.skill ? 1 : 0)
}
