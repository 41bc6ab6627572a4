import { z } from 'zod'
import { type Change, describeSkill, type Outline, readFactSources, sidesOf } from '#core/changes/compare.ts'
import type { DeliveredItems } from '#core/changes/items.ts'
import {
  compareSkillTexts,
  cutDifference,
  type DifferencePosition,
  FIRST_PAGE,
  type SkillDifference,
} from '#core/changes/skill-difference.ts'
import { deliveredTexts } from '#core/changes/skill-texts.ts'
import type { ChangesQuery, SkillChangesPage } from '#core/contract/changes.ts'
import { ServiceError } from '#core/errors.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { itemKey } from '#core/snapshot/delivered.ts'
import type { ContextRow } from '#core/snapshot/format.ts'
import type { Deps } from '../deps.ts'
import { readCursor, sealCursor } from '../reading/cursor.ts'
import type { Snapshot } from '../snapshot/snapshot-reader.ts'
import { orUnavailable } from '../snapshot/unavailable.ts'
import { type ComparedFolders, compareFolders, readItems, readOutline, readsOf } from './differing.ts'
import { bindingOf, type ReadySides } from './sides.ts'

/** A position as a cursor holds it: text, characters, UTF-16 units and fragments before the page. */
export const DifferenceCursor = z.tuple([z.int().min(0), z.int().min(0), z.int().min(0), z.int().min(0)])

/**
 * One page of the difference of a skill: its item, its metadata on both sides, and at most 16 KiB of the differences of its texts.
 *
 * @throws ServiceError `request.invalid`, `mount.path_not_found`, `skill.not_found`, `skill.unavailable`
 */
export async function readSkillChanges(
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
    diagnostics: context?.diagnostics ?? [],
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
