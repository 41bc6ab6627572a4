import { type Change, type Outline, outlineChanges } from '#core/changes/compare.ts'
import { type DeliveredItems, type DeliveredReads, itemsOfRows } from '#core/changes/items.ts'
import { createLimit } from '#core/concurrency/limit.ts'
import { createYielder } from '#core/concurrency/yielding.ts'
import type { Counts } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { COMPARED_SLICE_MS } from '#core/limits.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { type DeliveredFacts, type ItemKind, itemKey, pageItemKey } from '#core/snapshot/delivered.ts'
import type { RowOf } from '#core/snapshot/format.ts'
import { decodeText } from '#core/text.ts'
import { readFolder } from '../mount/folder.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import type { ReadySides } from './sides.ts'

/** What of a snapshot is compared. */
interface ComparedFolder {
  snapshot: Snapshot
  /** Markdown files of skills are documents: the mount lies inside a skill. */
  showsPages: boolean
}

/** Both sides of a folder of a mount. */
export interface ComparedFolders {
  from: ComparedFolder
  to: ComparedFolder
  mounted: RepoPath
  folder: RepoPath
  /** Of the new side: what is described only has no text to compare. */
  notCompared: Counts
}

/** @throws ServiceError `mount.path_not_found` when the mount shows the folder on neither side */
export async function compareFolders({ from, to, mounted }: ReadySides, folder: RepoPath): Promise<ComparedFolders> {
  const read = ({ snapshot }: { snapshot: Snapshot }) =>
    Promise.all([readFolder(snapshot, mounted), folder === mounted ? null : readFolder(snapshot, folder)])
  const [old, new_] = isInside(mounted, folder) ? await Promise.all([read(from), read(to)]) : [[], []]
  const rowOf = ([mount = null, below = null]: typeof old) => (folder === mounted ? mount : below)
  if (rowOf(old) === null && rowOf(new_) === null) throw new ServiceError('mount.path_not_found')
  return {
    from: { snapshot: from.snapshot, showsPages: old[0]?.pages !== undefined },
    to: { snapshot: to.snapshot, showsPages: new_[0]?.pages !== undefined },
    mounted,
    folder,
    notCompared: rowOf(new_)?.described ?? { skills: 0, documents: 0 },
  }
}

/** Comparisons of one process at once: each holds the rows that differ, of both sides. */
const inTurn = createLimit(4)

/** What differs below the folder. Memoized: the pages of a comparison share it. */
export async function readOutline(folders: ComparedFolders): Promise<Outline> {
  const { from, to, mounted, folder } = folders
  const key = `changes ${from.snapshot.commit} ${from.snapshot.indexedAt.getTime()} ${JSON.stringify([mounted, folder])}`
  return await to.snapshot.memo(key, () =>
    inTurn(async () => {
      const [before, after] = await Promise.all([differingItems(from, to, folder), differingItems(to, from, folder)])
      return Object.freeze(await outlineChanges(before, after, { before: readsOf(from.snapshot), after: readsOf(to.snapshot) }))
    }),
  )
}

/** The items of one side, without those in parts of the table that the other side has, too. */
async function differingItems(one: ComparedFolder, other: ComparedFolder, folder: RepoPath): Promise<DeliveredItems> {
  const below = folder === '' ? '' : `${folder}/`
  // Where one side alone shows pages, the other side has none of them.
  const shared = new Set(other.snapshot.shardNames('delivered'))
  const [items, pages] = await Promise.all([
    one.snapshot.range('delivered', { prefix: itemKey(below), except: shared }),
    one.showsPages
      ? one.snapshot.range('delivered', { prefix: pageItemKey(below), ...(other.showsPages && { except: shared }) })
      : [],
  ])
  return itemsOfRows([...items, ...pages])
}

/** The rows of some changes. */
export async function readItems(
  folders: ComparedFolders,
  changes: readonly Change[],
): Promise<{ before: DeliveredItems; after: DeliveredItems }> {
  const old = changes
    .filter(({ change }) => change !== 'added')
    .map(({ kind, path, movedFrom = path }) => ({ kind, path: movedFrom }))
  const new_ = changes.filter(({ change }) => change !== 'removed')
  const [before, after] = await Promise.all([rowsOf(folders.from, old), rowsOf(folders.to, new_)])
  return { before, after }
}

async function rowsOf(
  { snapshot, showsPages }: ComparedFolder,
  items: readonly { kind: ItemKind; path: string }[],
): Promise<DeliveredItems> {
  const read = async ({ kind, path }: { kind: ItemKind; path: string }) => {
    const key = itemKey(path, kind)
    const row = await snapshot.get('delivered', key)
    if (row !== null || kind !== 'document' || !showsPages) return [key, row] as const
    return [key, await snapshot.get('delivered', pageItemKey(path))] as const
  }
  const rows = await Promise.all(items.map(read))
  return itemsOfRows(rows.flatMap(([key, row]) => (row === null ? [] : [[key, row] as const])))
}

/** Hosts of a page that are looked up together: a page of long documents links to thousands. */
const HOSTS_AT_ONCE = 256

/** What a comparison reads besides items. */
export function readsOf(snapshot: Snapshot): DeliveredReads {
  return {
    async textOf(kind, path) {
      if (kind === 'skill') return (await snapshot.get('contexts', path))?.full?.body ?? ''
      const record = (await snapshot.get('files', path))?.record
      return (record && decodeText(await snapshot.record(record))) ?? ''
    },
    async factsOf(keys) {
      const rows = await Promise.all(keys.map(async key => [key, await snapshot.get('delivered', key)] as const))
      return new Map(rows.flatMap(([key, row]) => (isText(row) ? [[key, row.facts] as const] : [])))
    },
    async knownHosts(hosts) {
      const yieldIfDue = createYielder(undefined, COMPARED_SLICE_MS)
      const known: string[] = []
      for (let from = 0; from < hosts.length; from += HOSTS_AT_ONCE) {
        const some = hosts.slice(from, from + HOSTS_AT_ONCE)
        const rows = await Promise.all(some.map(host => snapshot.get('hosts', host)))
        known.push(...some.filter((_, index) => rows[index] !== null))
        await yieldIfDue()
      }
      return new Set(known)
    },
  }
}

function isText(row: RowOf<'delivered'> | null): row is RowOf<'delivered'> & { kind: 'text'; facts: DeliveredFacts } {
  return row?.kind === 'text'
}
