import { z } from 'zod'
import {
  type Change,
  describeChange,
  describeSkill,
  type Outline,
  outlineChanges,
  readFactSources,
  sidesOf,
} from '#core/changes/compare.ts'
import { type DeliveredItems, type DeliveredReads, itemsOfRows } from '#core/changes/items.ts'
import {
  compareSkillTexts,
  cutDifference,
  type DifferencePosition,
  deliveredTexts,
  FIRST_PAGE,
  type SkillDifference,
} from '#core/changes/skill-difference.ts'
import { createLimit } from '#core/concurrency/fair-gate.ts'
import { createYielder } from '#core/concurrency/yielding.ts'
import type { ChangeItem, ChangesAnswer, ChangesPage, ChangesQuery, SkillChangesPage } from '#core/contract/changes.ts'
import type { Counts } from '#core/contract/shared.ts'
import { ServiceError } from '#core/errors.ts'
import { withMessage } from '#core/finding-messages.ts'
import { BROWSE_LIMIT, CHANGES_PAGE_BYTES, COMPARED_SLICE_MS } from '#core/limits.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { type DeliveredFacts, type ItemKind, itemKey, pageItemKey } from '#core/snapshot/delivered.ts'
import type { ContextRow, RowOf } from '#core/snapshot/format.ts'
import { decodeText, utf8Length } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { diagnosticsOf, folderOf, readFolder } from '../mount/folder.ts'
import { againIfReplaced } from '../mount/open-mount.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { orUnavailable } from '../snapshot/unavailable.ts'
import { readCursor, requireCursorForm, sealCursor } from './cursor.ts'
import { bindingOf, openSides, type ReadySides, type SidesRequest } from './sides.ts'

/** A cursor holds the number of items on the pages before. */
const ChangesPosition = z.int().min(0)

/**
 * What an agent reads differently on two sides: a page of items, or the difference of one skill; until both sides are indexed, their state.
 *
 * @throws ServiceError as `openMount`; `request.invalid`, `mount.path_not_found`, `skill.not_found`, `skill.unavailable`
 */
export async function answerChanges(
  deps: Deps,
  { query, ...request }: Omit<SidesRequest, 'from'> & { query: ChangesQuery },
): Promise<ChangesAnswer> {
  requireCursorForm(query.cursor, query.skill === undefined ? ChangesPosition : DifferenceCursor)
  return await againIfReplaced(async () => {
    const sides = await openSides(deps, { ...request, from: query.from })
    if ('status' in sides) return sides
    const { skill } = query
    return skill === undefined ? await readChanges(deps, sides, query) : await readSkillChanges(deps, sides, { ...query, skill })
  })
}

async function readChanges(deps: Pick<Deps, 'cursorKeys'>, sides: ReadySides, query: ChangesQuery): Promise<ChangesPage> {
  const { to, mounted, described } = sides
  const path = folderOf(mounted, query.path)
  const binding = bindingOf(sides, { path, from: query.from })
  const start = query.cursor === undefined ? 0 : readCursor(deps.cursorKeys, binding, query.cursor, ChangesPosition)
  const folders = await compareFolders(sides, path)

  const [outline, diagnostics] = await Promise.all([readOutline(folders), diagnosticsOf(to.snapshot, path)])
  const end = start + (query.limit ?? BROWSE_LIMIT.default)
  const changes = outline.changes.slice(start, end)
  const { before, after } = await readItems(folders, changes)
  const sources = await readFactSources(
    changes,
    { items: before, reads: readsOf(folders.from.snapshot) },
    { items: after, reads: readsOf(folders.to.snapshot) },
  )
  const items = await firstItems(changes, change => describeChange(change, before, after, outline, sources))
  const next = start + items.length
  return {
    status: 'ready',
    commit: to.commit,
    ...described,
    path,
    counts: outline.counts,
    notCompared: folders.notCompared,
    items,
    diagnostics,
    nextCursor: next < outline.changes.length ? sealCursor(deps.cursorKeys, binding, next) : null,
  }
}

/** As many of the described changes as fit on a page, one at least: a skill of many files has as many causes. */
async function firstItems(changes: readonly Change[], describe: (change: Change) => ChangeItem): Promise<ChangeItem[]> {
  const yieldIfDue = createYielder(undefined, COMPARED_SLICE_MS)
  const items: ChangeItem[] = []
  let bytes = 0
  for (const change of changes) {
    await yieldIfDue()
    const item = describe(change)
    bytes += utf8Length(JSON.stringify(item))
    if (items.length > 0 && bytes > CHANGES_PAGE_BYTES) break
    items.push(item)
  }
  return items
}

/** A position as a cursor holds it: text, characters, UTF-16 units and fragments before the page. */
const DifferenceCursor = z.tuple([z.int().min(0), z.int().min(0), z.int().min(0), z.int().min(0)])

/**
 * One page of the difference of a skill: its item, its metadata on both sides, and at most 16 KiB of the differences of its texts.
 *
 * @throws ServiceError `request.invalid`, `mount.path_not_found`, `skill.not_found`, `skill.unavailable`
 */
async function readSkillChanges(
  deps: Pick<Deps, 'cursorKeys'>,
  sides: ReadySides,
  { skill, from, cursor }: ChangesQuery & { skill: string },
): Promise<SkillChangesPage> {
  const binding = bindingOf(sides, { skill, from })
  const start = cursor === undefined ? FIRST_PAGE : toPosition(readCursor(deps.cursorKeys, binding, cursor, DifferenceCursor))
  const folders = await compareFolders(sides, sides.mounted)
  const change = await findSkill(folders, await readOutline(folders), skill)
  const { before, after } = await readItems(folders, [change as Change])
  const pair = sidesOf(change, before.skills, after.skills)
  const sources = await readFactSources(
    [change],
    { items: before, reads: readsOf(folders.from.snapshot) },
    { items: after, reads: readsOf(folders.to.snapshot) },
  )
  const [difference, context] = await Promise.all([
    readDifference(folders, change, { before, after }),
    pair.after && folders.to.snapshot.get('contexts', pair.after.path),
  ])
  const { entries, next } = cutDifference(difference.texts, start)
  return {
    status: 'ready',
    commit: sides.to.commit,
    ...sides.described,
    skill: describeSkill(change, pair, sources),
    metadata: difference.metadata,
    entries,
    diagnostics: (context?.diagnostics ?? []).map(withMessage),
    nextCursor: next && sealCursor(deps.cursorKeys, binding, fromPosition(next)),
  }
}

type ChangeOfSkill = Omit<Change, 'change'> & { change: Change['change'] | 'unchanged' }

/** The skill of the new side, or, where none lies at the path, of the old one. @throws ServiceError `skill.not_found` */
async function findSkill({ from, to, mounted }: ComparedFolders, { changes }: Outline, path: string): Promise<ChangeOfSkill> {
  const isListed = async ({ snapshot }: { snapshot: Snapshot }) =>
    isInside(mounted, path as RepoPath) && (await snapshot.get('delivered', itemKey(path, 'skill'))) !== null
  const skills = changes.filter(({ kind }) => kind === 'skill')
  if (await isListed(to)) {
    return skills.find(one => one.path === path) ?? { kind: 'skill', path, change: 'unchanged' }
  }
  const earlier = (await isListed(from)) && skills.find(one => (one.movedFrom ?? one.path) === path)
  if (!earlier) throw new ServiceError('skill.not_found')
  return earlier
}

/** Memoized: the pages of a difference share it. */
async function readDifference(
  { from, to }: ComparedFolders,
  change: ChangeOfSkill,
  items: { before: DeliveredItems; after: DeliveredItems },
): Promise<SkillDifference> {
  const pair = sidesOf(change, items.before.skills, items.after.skills)
  const { commit, indexedAt } = from.snapshot
  const key = `difference ${commit} ${indexedAt.getTime()} ${JSON.stringify([pair.before?.path, pair.after?.path])}`
  return await to.snapshot.memo(key, async () => {
    const [before, after] = await Promise.all([
      pair.before && readTexts(from.snapshot, pair.before.path),
      pair.after && readTexts(to.snapshot, pair.after.path),
    ])
    return Object.freeze(await compareSkillTexts(pair, { before, after }))
  })
}

async function readTexts(snapshot: Snapshot, path: string) {
  const context: ContextRow | null = await snapshot.get('contexts', path)
  if (context === null) throw new Error(`the snapshot lists the skill ${path} and has no context of it`)
  return await orUnavailable(`the texts of ${path}`, () => deliveredTexts(path, context, record => snapshot.record(record)))
}

function toPosition([text, offsetCharacters, offsetUnits, fragment]: z.infer<typeof DifferenceCursor>): DifferencePosition {
  return { text, offsetCharacters, offsetUnits, fragment }
}

function fromPosition({ text, offsetCharacters, offsetUnits, fragment }: DifferencePosition): z.infer<typeof DifferenceCursor> {
  return [text, offsetCharacters, offsetUnits, fragment]
}

/** What of a snapshot is compared. */
interface ComparedFolder {
  snapshot: Snapshot
  /** Markdown files of skills are documents: the mount lies inside a skill. */
  showsPages: boolean
}

/** Both sides of a folder of a mount. */
interface ComparedFolders {
  from: ComparedFolder
  to: ComparedFolder
  mounted: RepoPath
  folder: RepoPath
  /** Of the new side: what is described only has no text to compare. */
  notCompared: Counts
}

/** @throws ServiceError `mount.path_not_found` when the mount shows the folder on neither side */
async function compareFolders({ from, to, mounted }: ReadySides, folder: RepoPath): Promise<ComparedFolders> {
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
async function readOutline(folders: ComparedFolders): Promise<Outline> {
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
async function readItems(
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
function readsOf(snapshot: Snapshot): DeliveredReads {
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
