import { z } from 'zod'
import type { BrowseEntry, BrowsePage, BrowseQuery } from '#core/contract/browse.ts'
import type { RepoPath } from '#core/repo-path.ts'
import { countsInMount, type EntryRow, entryKey } from '#core/snapshot/format.ts'
import type { Deps } from '../deps.ts'
import { diagnosticsOf, folderOf, requireFolder } from '../mount/folder.ts'
import type { ReadyMount } from '../mount/open-mount.ts'
import { readCursor, sealCursor } from './cursor.ts'

/** A cursor holds the name of the first entry of the next page. */
export const BrowsePosition = z.string()

/**
 * One page of a folder: its entries in byte order of their paths.
 *
 * @throws ServiceError `request.invalid`, `mount.path_not_found`
 */
export async function browseFolder(deps: Pick<Deps, 'cursorKeys'>, mount: ReadyMount, query: BrowseQuery): Promise<BrowsePage> {
  const { snapshot, commit, repository, address } = mount
  const path = folderOf(address.path, query.path)
  const isAll = query.files === 'all'
  const parameters = { mount: address.path, path, ...(isAll ? { files: 'all' } : {}) }
  const binding = { route: 'browse', repositoryId: repository.id, commit, parameters }
  const start = query.cursor === undefined ? '' : readCursor(deps.cursorKeys, binding, query.cursor, BrowsePosition)

  // Read concurrently: reads that lie close together become one.
  const prefix = entryKey(path, '')
  const [folder, rows, diagnostics] = await Promise.all([
    requireFolder(mount, path),
    snapshot.range('entries', { prefix, from: prefix + start, limit: query.limit + 1 }),
    diagnosticsOf(snapshot, path),
  ])
  const next = rows[query.limit]
  const entries = rows.slice(0, query.limit).map(([, entry]) => entryInMount(address.path, entry))
  return {
    status: 'ready',
    commit,
    path,
    entries: isAll ? await Promise.all(entries.map(entry => withState(mount, entry))) : entries,
    ...(folder.overview && { overview: folder.overview }),
    diagnostics,
    nextCursor: next ? sealCursor(deps.cursorKeys, binding, next[0].slice(prefix.length)) : null,
  }
}

function entryInMount(mounted: RepoPath, row: EntryRow): BrowseEntry {
  if (row.kind === 'file' || row.pages === undefined) return row
  const { pages, ...entry } = row
  return { ...entry, counts: countsInMount(mounted, { counts: entry.counts, pages }) }
}

async function withState({ snapshot }: ReadyMount, entry: BrowseEntry): Promise<BrowseEntry> {
  if (entry.kind === 'directory') return entry
  const row = await snapshot.get('files', entry.path)
  return row?.record && row.refusal === undefined
    ? entry
    : { ...entry, delivered: false, why: WHY[row?.refusal ?? 'file.not_text'] }
}

const WHY = { 'file.not_served': 'withheld', 'file.too_large': 'too_large', 'file.not_text': 'not_text' } as const
