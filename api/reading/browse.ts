import { z } from 'zod'
import type { BrowseEntry, BrowsePage, BrowseQuery } from '#core/contract/browse.ts'
import { isInside, joinPath, type RepoPath } from '#core/repo-path.ts'
import { countsInMount, type EntryRow, entryKey, type OtherRow } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
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
  const rest = { prefix, from: prefix + start, limit: query.limit + 1 }
  const [folder, listed, others, diagnostics] = await Promise.all([
    requireFolder(mount, path),
    snapshot.range('entries', rest),
    isAll ? snapshot.range('others', rest) : [],
    diagnosticsOf(snapshot, path),
  ])
  const rows = isAll ? inOneOrder(path, listed, others) : listed
  const next = rows[query.limit]
  const toEntry = isAll ? treeEntry : listedEntry
  return {
    status: 'ready',
    commit,
    path,
    entries: rows.slice(0, query.limit).map(([, row]) => toEntry(address.path, row)),
    ...(folder.overview && { overview: folder.overview }),
    diagnostics,
    nextCursor: next ? sealCursor(deps.cursorKeys, binding, next[0].slice(prefix.length)) : null,
  }
}

type Keyed<Row> = readonly (readonly [key: string, row: Row])[]

/** The rows of both tables, in byte order of their keys. */
function inOneOrder(folder: RepoPath, listed: Keyed<EntryRow>, others: Keyed<OtherRow>): Keyed<EntryRow> {
  const prefix = entryKey(folder, '').length
  const added = others.map(([key, row]) => [key, { ...row, path: joinPath(folder, key.slice(prefix)) }] as const)
  return [...listed, ...added].sort(([left], [right]) => compareBytes(left, right))
}

/** A row as it is listed by default. */
function listedEntry(mounted: RepoPath, { delivered: _delivered, why: _why, target: _target, ...row }: EntryRow): BrowseEntry {
  if (row.kind === 'file') return row
  const { pages, counts, ...entry } = row
  return { ...entry, counts: countsInMount(mounted, { counts: { skills: counts.skills, documents: counts.documents }, pages }) }
}

/** A row with what `files=all` says of it. No target outside the mount is named. */
function treeEntry(mounted: RepoPath, { target, why, delivered, ...row }: EntryRow): BrowseEntry {
  const state = {
    ...(why !== undefined || delivered === false ? { delivered: false as const } : {}),
    ...(why !== undefined && { why }),
    ...(target !== undefined && isListedIn(mounted, target as RepoPath) && { target }),
  }
  if (row.kind === 'file') return { ...row, ...state }
  const { pages, counts, ...entry } = row
  return { ...entry, counts: countsInMount(mounted, { counts, pages }), ...state }
}

/** Whether an answer of the mount could list the path: the mounted folder is no entry. */
function isListedIn(mounted: RepoPath, path: RepoPath): boolean {
  return path !== mounted && isInside(mounted, path)
}
