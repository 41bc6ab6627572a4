import { ancestorsOf, baseNameOf, joinPath, parentOf, type RepoPath, ROOT } from '#core/repo-path.ts'
import { type EntryRow, entryKey, type OtherRow } from '#core/snapshot/format.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'

/** The row of a path as `browse` lists it with `files=all`; `null` where it lists none. */
export async function readTreeRow(snapshot: Snapshot, path: RepoPath): Promise<EntryRow | OtherRow | null> {
  if (path === ROOT) return null
  const key = entryKey(parentOf(path), baseNameOf(path))
  const [listed, other] = await Promise.all([snapshot.get('entries', key), snapshot.get('others', key)])
  return listed ?? other
}

/** Whether an entry is a symlink whose target no answer may name. */
export function isUntoldLink({ why, target }: Pick<EntryRow, 'why' | 'target'>): boolean {
  return why === 'link' && target === undefined
}

/** Where the entry of a path lies, if a symlink to a folder gives it that path: hosts follow no links. */
export async function placeOf(snapshot: Snapshot, path: RepoPath): Promise<RepoPath> {
  const above = ancestorsOf(path).slice(1).reverse()
  const rows = await Promise.all(above.map(folder => readTreeRow(snapshot, folder)))
  const nearest = rows.findIndex(row => row?.target !== undefined)
  const [link, target] = [above[nearest], rows[nearest]?.target as RepoPath | undefined]
  return link === undefined || target === undefined ? path : joinPath(target, path.slice(link.length + 1))
}
