import type { Cause, ChangeItem, SkillChangesPage } from '#core/contract/changes.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { baseNameOf, parentOf, type RepoPath } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'

/* What a reviewer reads first of a comparison: what can hurt, with what was there before. Pure. */

/** One thing to look at. Kinds in the order in which pages show them. */
export type Point =
  /** It decides when agents use the skill. */
  | { kind: 'description'; before: string | null; after: string | null }
  | { kind: 'command'; command: string; path: string; line: number }
  | { kind: 'host'; host: string; path: string; line: number }
  | { kind: 'allowedTools'; before: FrontMatterValue | null; after: FrontMatterValue | null }
  | { kind: 'hidden'; codePoint: string; count: number; path: string; line: number }
  | { kind: 'script'; path: string }
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
      const key = file ?? `${item.kind} ${item.path}`
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
    ...executables.map(path => ({ kind: 'script' as const, path })),
    ...rules.map(({ path, change }) => ({ kind: 'rules' as const, path, change })),
    ...(truncated ? [{ kind: 'more' as const, kinds: truncated }] : []),
  ]
}

function byGravity(left: Point, right: Point): number {
  return ORDER.indexOf(left.kind) - ORDER.indexOf(right.kind)
}

function gravityOf({ points: [first] }: LookRow): number {
  return first === undefined ? ORDER.length : ORDER.indexOf(first.kind)
}

/** Items that are no row to read first, by what happened to them. */
export interface OtherItems {
  moved: ChangeItem[]
  added: ChangeItem[]
  removed: ChangeItem[]
  /** Of a license, or of who is sent the text. */
  license: ChangeItem[]
  words: ChangeItem[]
}

/** Whether rows have everything of an item that changed. Rules are told where they are received. */
function isTold(item: ChangeItem): boolean {
  if (item.kind === 'manifest') return item.skills > 0 && item.parts.every(part => part === 'rules')
  return pointsOf(item).length > 0
}

/** The items in groups. One that changed and has points stands among the rows alone. */
export function otherItems(items: readonly ChangeItem[]): OtherItems {
  const changed = items.filter(item => item.change === 'changed' && !isTold(item))
  const ofLicense = (item: ChangeItem) => item.parts.some(part => part === 'license' || part === 'serving')
  return {
    moved: items.filter(({ change }) => change === 'moved'),
    added: items.filter(({ change }) => change === 'added'),
    removed: items.filter(({ change }) => change === 'removed'),
    license: changed.filter(ofLicense),
    words: changed.filter(item => !ofLicense(item)),
  }
}

/** The names of what moved: of the folders of a skill that was renamed, else the paths; `null` of an item that did not move. */
export function movedNames(item: ChangeItem): { from: string; to: string } | null {
  if (item.kind === 'manifest' || item.movedFrom === undefined) return null
  const [from, to] = item.kind === 'skill' ? [parentOf(item.movedFrom as RepoPath), item.directory] : [item.movedFrom, item.path]
  const [old, new_] = [baseNameOf(from as RepoPath), baseNameOf(to as RepoPath)]
  const isRenamed = parentOf(from as RepoPath) === parentOf(to as RepoPath) && old !== new_
  return isRenamed ? { from: old, to: new_ } : { from, to }
}
