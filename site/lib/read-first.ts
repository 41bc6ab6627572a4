import type { Address } from '#core/address.ts'
import type { BrowseEntry, BrowsePage } from '#core/contract/browse.ts'
import type { Overview, ReadFirstFile } from '#core/contract/mount.ts'
import { READ_FIRST } from '#core/read-first.ts'
import { baseNameOf, type RepoPath } from '#core/repo-path.ts'
import type { ApiClient } from './api-client.ts'
import { hiddenFolderOf } from './links.ts'
import { findEntry } from './withheld.ts'

/** A file that agents read before any skill, or one that they do not read because of its name. */
export interface ReadFirstRow extends ReadFirstFile {
  why?: BrowseEntry['why']
  /** The first hidden folder of its path, if that is why it is not sent. */
  hidden?: string
  /** The name that agents look for, if only the case of its letters differs. */
  expected?: string
}

/**
 * The files of the mounted folder that are read first, in the order of their names, with why agents do not get one; then files of these names in
 * another case, which a file system that tells cases apart does not find.
 *
 * @param top the first entries of the folder
 */
export async function loadReadFirst(
  client: ApiClient,
  address: Address,
  { readFirst }: Overview,
  top: BrowsePage | null,
): Promise<ReadFirstRow[]> {
  const rows = readFirst.files.map(async (file): Promise<ReadFirstRow> => {
    const entry = file.delivered ? null : await findEntry(client, address, file.path, 'all')
    if (entry?.why === undefined) return file
    const hidden = entry.why === 'not_delivered' ? hiddenFolderOf(file.path) : null
    return { ...file, why: entry.why, ...(hidden !== null && { hidden }) }
  })
  return [...(await Promise.all(rows)), ...(top?.entries ?? []).flatMap(inOtherCase)]
}

function inOtherCase(entry: BrowseEntry): ReadFirstRow[] {
  if (entry.kind !== 'file') return []
  const name = baseNameOf(entry.path as RepoPath)
  const expected = READ_FIRST.find(one => one !== name && one.toLowerCase() === name.toLowerCase())
  const size = entry.size === undefined ? {} : { size: entry.size }
  return expected === undefined ? [] : [{ path: entry.path, ...size, delivered: entry.delivered !== false, expected }]
}
