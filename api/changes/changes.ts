import { z } from 'zod'
import { type Change, describeChange, describeSkill, type Outline, readFactSources, sidesOf } from '#core/changes/compare.ts'
import type { DeliveredItems } from '#core/changes/items.ts'
import {
  compareSkillTexts,
  cutDifference,
  type DifferencePosition,
  FIRST_PAGE,
  type SkillDifference,
} from '#core/changes/skill-difference.ts'
import { deliveredTexts } from '#core/changes/skill-texts.ts'
import { createYielder } from '#core/concurrency/yielding.ts'
import type { ChangeItem, ChangesAnswer, ChangesPage, ChangesQuery, SkillChangesPage } from '#core/contract/changes.ts'
import { ServiceError } from '#core/errors.ts'
import { withMessage } from '#core/finding-messages.ts'
import { BROWSE_LIMIT, CHANGES_PAGE_BYTES, COMPARED_SLICE_MS } from '#core/limits.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { itemKey } from '#core/snapshot/delivered.ts'
import type { ContextRow } from '#core/snapshot/format.ts'
import { utf8Length } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { diagnosticsOf, folderOf } from '../mount/folder.ts'
import { againIfReplaced } from '../mount/open-mount.ts'
import { readCursor, requireCursorForm, sealCursor } from '../reading/cursor.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { orUnavailable } from '../snapshot/unavailable.ts'
import { type ComparedFolders, compareFolders, readItems, readOutline, readsOf } from './differing.ts'
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
