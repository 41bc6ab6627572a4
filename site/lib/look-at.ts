import { type ChangedPart, changedParts } from '#core/change-groups.ts'
import type { Cause, ChangeItem, SkillChangesPage } from '#core/contract/changes.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import { isScriptPath } from './links.ts'

/* What a reviewer reads first of a comparison: what can hurt, with what was there before. Pure. */

/** One thing to look at. Kinds in the order in which pages show them. */
export type Point =
  /** It decides when agents use the skill. */
  | { kind: 'description'; before: string | null; after: string | null }
  | { kind: 'command'; command: string; path: string; line: number }
  | { kind: 'host'; host: string; path: string; line: number }
  | { kind: 'allowedTools'; before: FrontMatterValue | null; after: FrontMatterValue | null }
  | { kind: 'hidden'; codePoint: string; count: number; path: string; line: number }
  /** `change`: of a script of an item that was there before; `runnable`: a file that can be run now. */
  | { kind: 'script'; path: string; change: 'added' | 'changed' | 'runnable' }
  /** `change`: of the manifest. */
  | { kind: 'rules'; path: string; change: Cause['change'] }
  /** There may be more than a limit lets list. */
  | { kind: 'more'; kinds: readonly string[] }

const ORDER: readonly Point['kind'][] = ['description', 'command', 'host', 'allowedTools', 'hidden', 'script', 'rules', 'more']

/** The points of a skill, of a document, or of a file that several skills share. */
export interface LookRow {
  /** `file`: rules or an included file, outside of the skills that receive them. */
  kind: 'skill' | 'document' | 'file'
  path: string
  name: string
  /** Of an item. */
  item: Exclude<ChangeItem, { kind: 'manifest' }> | null
  points: Point[]
  /** The items that receive the file; of another row the item itself. */
  receivers: readonly FactItem[]
}

type FactItem = Exclude<ChangeItem, { kind: 'manifest' }>

/** The rows of the items, those with the gravest point first, then by path. A fact of a file that several skills receive is told once. */
export function lookRows(items: readonly ChangeItem[]): LookRow[] {
  const rows = new Map<string, Omit<LookRow, 'receivers'> & { told: Set<string>; receivers: Set<FactItem> }>()
  for (const item of items) {
    if (item.kind === 'manifest') continue
    for (const point of pointsOf(item)) {
      const file = fileOf(point, item)
      // A path may begin like the key of an item.
      const key = file === null ? `${item.kind} ${item.path}` : `file ${file}`
      const about =
        file === null
          ? { kind: item.kind, path: item.path, name: item.kind === 'skill' ? item.name : item.title, item }
          : { kind: 'file' as const, path: file, name: file, item: null }
      const row = rows.get(key) ?? { ...about, points: [], told: new Set(), receivers: new Set() }
      rows.set(key, row)
      row.receivers.add(item)
      const spelled = JSON.stringify(point)
      if (!row.told.has(spelled)) row.points.push(point)
      row.told.add(spelled)
    }
  }
  return [...rows.values()]
    .map(({ told: _, receivers, ...row }) => ({ ...row, points: row.points.toSorted(byGravity), receivers: [...receivers] }))
    .sort((left, right) => gravityOf(left) - gravityOf(right) || compareBytes(left.path, right.path))
}

/** Rows of a page: those shown at once, those that its reader unfolds, and those that are named alone. */
export interface CutRows {
  open: readonly LookRow[]
  folded: readonly LookRow[]
  named: readonly LookRow[]
  /** How many more there are. */
  left: number
}

/** Rows that a page shows at once, and points of the rows that it has in full: a comparison may have thousands. */
const OPEN_ROWS = 30
const FULL_POINTS = 80
const NAMED_ROWS = 300

/** The first rows in full, at least one, up to a number of points; each of the others has a page of its own. */
export function cutRows(rows: readonly LookRow[]): CutRows {
  let points = 0
  const cut = rows.findIndex((row, at) => {
    points += row.points.length
    return at > 0 && points > FULL_POINTS
  })
  const full = cut < 0 ? rows.length : cut
  const open = Math.min(OPEN_ROWS, full)
  const named = rows.slice(full, full + NAMED_ROWS)
  return { open: rows.slice(0, open), folded: rows.slice(open, full), named, left: rows.length - full - named.length }
}

/** The path of a file outside of the item; `null` for a point of the item itself. */
function fileOf(point: Point, item: FactItem): string | null {
  if (!('path' in point)) return null
  const isOwn = item.kind === 'document' ? point.path === item.path : isBelow(item.directory, point.path)
  return isOwn && point.kind !== 'rules' ? null : point.path
}

function isBelow(directory: string, path: string): boolean {
  return directory === '' || path.startsWith(`${directory}/`)
}

/** Of an item that is new, everything is, so its description is nothing to compare. */
export function pointsOf(item: FactItem | SkillChangesPage['skill']): Point[] {
  const { description, commands = [], hosts = [], allowedTools, hiddenCharacters = [], executables = [], truncated } = item.facts
  const rules = item.kind === 'skill' ? item.causes.filter(({ part }) => part === 'rules') : []
  return [
    ...(description && item.before !== null ? [{ kind: 'description' as const, ...description }] : []),
    ...commands.map(fact => ({ kind: 'command' as const, ...fact })),
    ...hosts.map(fact => ({ kind: 'host' as const, ...fact })),
    ...(allowedTools ? [{ kind: 'allowedTools' as const, ...allowedTools }] : []),
    ...hiddenCharacters.map(fact => ({ kind: 'hidden' as const, ...fact })),
    ...executables.map(path => ({ kind: 'script' as const, path, change: 'runnable' as const })),
    ...scriptsOf(item)
      .filter(({ path }) => !executables.includes(path))
      .map(({ path, change }) => ({ kind: 'script' as const, path, change })),
    ...rules.map(({ path, change }) => ({ kind: 'rules' as const, path, change })),
    ...(truncated ? [{ kind: 'more' as const, kinds: truncated }] : []),
  ]
}

/** Scripts of a skill that are new or differ, whatever their bits. */
function scriptsOf(item: FactItem | SkillChangesPage['skill']): { path: string; change: 'added' | 'changed' }[] {
  const causes = item.kind === 'skill' ? item.causes : []
  return causes.flatMap(({ part, path, change }) =>
    part === 'files' && change !== 'removed' && isScriptPath(path) ? [{ path, change }] : [],
  )
}

function byGravity(left: Point, right: Point): number {
  return ORDER.indexOf(left.kind) - ORDER.indexOf(right.kind)
}

function gravityOf({ points: [first] }: LookRow): number {
  return first === undefined ? ORDER.length : ORDER.indexOf(first.kind)
}

/** The groups of items that are no row to read first, in the order of a page. */
export const OTHER_GROUPS = ['moved', 'added', 'removed', 'license', 'files', 'frontMatter', 'settings', 'words'] as const
export type OtherGroup = (typeof OTHER_GROUPS)[number]
export type OtherItems = Record<OtherGroup, ChangeItem[]>

/** Parts that put a changed item into a group other than words: what agents may run, obey or be sent. The first that fits counts. */
const GROUP_OF_PARTS: readonly { group: OtherGroup; kinds: readonly ChangeItem['kind'][]; parts: readonly string[] }[] = [
  { group: 'license', kinds: ['skill', 'document', 'manifest'], parts: ['license', 'serving'] },
  { group: 'files', kinds: ['skill'], parts: ['files'] },
  { group: 'frontMatter', kinds: ['skill'], parts: ['metadata'] },
  { group: 'settings', kinds: ['manifest'], parts: ['includes', 'exclusions'] },
]

/** Whether rows have everything of an item that changed. Rules are told where they are received. */
function isTold(item: ChangeItem): boolean {
  if (item.kind === 'manifest') return item.skills > 0 && item.parts.every(part => part === 'rules')
  return pointsOf(item).length > 0
}

/** The parts of an item that its row has no point for: not its text either, in which most points are. */
export function untoldParts(item: FactItem): ChangedPart[] {
  const { description, allowedTools } = item.facts
  const isField = description !== undefined || allowedTools !== undefined
  const scripts = new Set(pointsOf(item).flatMap(point => (point.kind === 'script' ? [point.path] : [])))
  return changedParts(item).flatMap(({ parts, causes }): ChangedPart[] => {
    const others = parts.filter(part => part !== 'rules' && part !== 'body' && !(part === 'metadata' && isField))
    const untold = causes.filter(({ path }) => !scripts.has(path))
    return others.length === 0 || (causes.length > 0 && untold.length === 0) ? [] : [{ parts: others, causes: untold }]
  })
}

/** The items in groups. One that changed and has points stands among the rows alone. */
export function otherItems(items: readonly ChangeItem[]): OtherItems {
  const told = items.filter(item => item.change !== 'changed' || !isTold(item))
  const grouped = Map.groupBy(told, groupOf)
  return Object.fromEntries(OTHER_GROUPS.map(group => [group, grouped.get(group) ?? []])) as OtherItems
}

function groupOf(item: ChangeItem): OtherGroup {
  if (item.change !== 'changed') return item.change
  const parts: readonly string[] = item.parts
  const fits = GROUP_OF_PARTS.find(one => one.kinds.includes(item.kind) && one.parts.some(part => parts.includes(part)))
  return fits?.group ?? 'words'
}

/** Whether supporting files of a skill that was there before differ. Such a skill may stand in another group, for its license or its new path. */
export function haveFilesChanged(groups: OtherItems): boolean {
  const items = Object.values(groups).flat()
  return items.some(item => item.kind === 'skill' && item.parts.includes('files'))
}

/** The names of what moved: of the folders of a skill that was renamed, else the paths; `null` of an item that did not move. */
export function movedNames(item: ChangeItem): { from: string; to: string } | null {
  if (item.kind === 'manifest' || item.movedFrom === undefined) return null
  const [from, to] = item.kind === 'skill' ? [parentOf(item.movedFrom as RepoPath), item.directory] : [item.movedFrom, item.path]
  const [old, new_] = [baseNameOf(from as RepoPath), baseNameOf(to as RepoPath)]
  const isRenamed = parentOf(from as RepoPath) === parentOf(to as RepoPath) && old !== new_
  return isRenamed ? { from: old, to: new_ } : { from, to }
}
