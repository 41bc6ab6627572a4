import { z } from 'zod'
import { type Change, describeChange, readFactSources } from '#core/changes/compare.ts'
import { createTurns } from '#core/concurrency/turns.ts'
import type { ChangeItem, ChangesAnswer, ChangesPage, ChangesQuery } from '#core/contract/changes.ts'
import { BROWSE_LIMIT, CHANGES_PAGE_BYTES, COMPARED_SLICE_MS } from '#core/limits.ts'
import { utf8Length } from '#core/text.ts'
import type { Deps } from '../deps.ts'
import { againIfReplaced } from '../mount/answer-from-mount.ts'
import { diagnosticsOf, folderOf } from '../mount/folder.ts'
import { readCursor, requireCursorForm, sealCursor } from '../reading/cursor.ts'
import { compareFolders, readItems, readOutline, readsOf } from './differing.ts'
import { bindingOf, openSides, type ReadySides, type SidesRequest } from './sides.ts'
import { DifferenceCursor, readSkillChanges } from './skill-changes.ts'

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
  const turn = createTurns(undefined, COMPARED_SLICE_MS)
  const items: ChangeItem[] = []
  let bytes = 0
  for (const change of changes) {
    await turn()
    const item = describe(change)
    bytes += utf8Length(JSON.stringify(item))
    if (items.length > 0 && bytes > CHANGES_PAGE_BYTES) break
    items.push(item)
  }
  return items
}
