import type { Address } from '#core/address.ts'
import type { ChangedPart } from '#core/change-groups.ts'
import { isCommitSha } from '#core/commit-sha.ts'
import type { ChangeFacts, ChangeItem, ChangeSide, ChangesPage, SkillChangesPage } from '#core/contract/changes.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import type { PageT } from '#words/t.ts'
import { pageHref } from './links.ts'
import type { Point } from './look-at.ts'
import type { Ui } from './ui.ts'

/** Each kind of change has a sign beside its color. */
export const SIGNS = { added: '+', removed: '−', changed: '~', moved: '→' } as const

/** The facts that a reviewer looks for, a sentence each. */
export function factsOf(facts: ChangeFacts, t: PageT): string[] {
  const { hiddenCharacters = [], hosts = [], description, commands = [], executables = [] } = facts
  const { allowedTools, serving, truncated } = facts
  const spell = (value: unknown) => (value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value))
  const values = ({ before, after }: { before: unknown; after: unknown }) => ({ before: spell(before), after: spell(after) })
  return [
    ...hiddenCharacters.map(({ path, line, codePoint, count }) =>
      t('changes.facts.hidden', { path, line: String(line), codePoint, count: String(count) }),
    ),
    ...(description ? [t('changes.facts.description', values(description))] : []),
    ...commands.map(({ command, path, line }) => t('changes.facts.command', { command, path, line: String(line) })),
    ...hosts.map(({ host, path, line }) => t('changes.facts.host', { host, path, line: String(line) })),
    ...executables.map(path => t('changes.facts.executable', { path })),
    ...(allowedTools ? [t('changes.facts.allowedTools', values(allowedTools))] : []),
    ...(serving === undefined ? [] : [t(`changes.facts.${serving}`)]),
    ...(truncated ? [t('changes.facts.more', { kinds: truncated.join(', ') })] : []),
  ]
}

/** A point on one line. */
export function pointWords(point: Point, t: PageT): string {
  switch (point.kind) {
    case 'description':
      return point.after === null ? t('changes.points.noDescription') : t('changes.points.description', { after: point.after })
    case 'command':
      return t('changes.points.command', { command: point.command })
    case 'host':
      return t('changes.points.host', { host: point.host })
    case 'allowedTools':
      return t('changes.points.allowedTools', { after: spellValue(point.after) })
    case 'hidden':
      return t('changes.points.hidden', { codePoint: point.codePoint, count: String(point.count) })
    case 'script':
      return t(`changes.points.script.${point.change}`, { path: point.path })
    case 'rules':
      return t(`changes.points.rules.${point.change}`)
    case 'more':
      return t('changes.points.more', {
        kinds: point.kinds.map(kind => t.find(`changes.kindsOfFacts.${kind}`) ?? kind).join(', '),
      })
  }
}

/** A value of a front matter as words; a list with its members. */
export function spellValue(value: FrontMatterValue | null): string {
  if (value === null) return '–'
  if (Array.isArray(value) && value.every(one => typeof one === 'string')) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `2 skills, 1 document`: those whose texts a license withholds; `null` if there are none. */
export function withheldItems({ skills, documents }: ChangesPage['notCompared'], { t }: Pick<Ui, 't'>): string | null {
  const items = [
    ...(skills > 0 ? [t('counts.skill', { n: skills })] : []),
    ...(documents > 0 ? [t('counts.document', { n: documents })] : []),
  ]
  return items.length === 0 ? null : items.join(', ')
}

/** A side as a page names it: `v1 (172c5dd)`, or `172c5dd` where it is named by its hash. @param branch the default branch, which no name means */
export function sideName({ ref, commit }: Pick<ChangeSide, 'ref' | 'commit'>, branch: string): string {
  const short = commit.slice(0, 7)
  const name = ref ?? branch
  return isCommitSha(name) ? short : `${name.replace(/^refs\/(?:tags|heads)\//, '')} (${short})`
}

/** Whether a license withholds the texts of a side, so that they are not compared. */
export function isDescribedOnly({ before, after }: Pick<SkillChangesPage['skill'], 'before' | 'after'>): boolean {
  return [before, after].some(side => side?.full === false)
}

/** Tokens of items before and after, as words; `null` if no side delivers a text, or where those of changed items are as many. */
export function tokensOf(
  items: readonly (Pick<ChangeItem, 'before' | 'after'> & { change: string })[],
  { number, t }: Ui,
): string | null {
  if (items.every(({ before, after }) => (before?.tokens ?? after?.tokens ?? null) === null)) return null
  const sum = (side: 'before' | 'after') => items.reduce((all, item) => all + (item[side]?.tokens ?? 0), 0)
  const [before, after] = [sum('before'), sum('after')]
  if (before === after && items.every(({ change }) => change === 'changed')) return null
  // What is sent on one side only has no other number.
  const isOne = before === after || items.every(item => !item.before?.tokens || !item.after?.tokens)
  return isOne ? t('counts.token', { n: after || before }) : t('changes.tokens', { before: number(before), after: number(after) })
}

/** The name of a part of an item that changed. */
export function partWords(
  item: Pick<ChangeItem, 'kind'> & { facts?: ChangeFacts },
  part: ChangedPart['parts'][number],
  t: PageT,
): string {
  if (part === 'serving') return t(`changes.serving.${item.facts?.serving ?? 'opened'}`)
  if (part === 'metadata' && item.kind === 'document') return t('changes.listing')
  if (part === 'metadata' && item.kind === 'manifest') return t('changes.ownWords')
  return t(`changes.parts.${part}`)
}

/** A field of a front matter on both sides. */
export interface FieldDifference {
  name: string
  before: string | null
  after: string | null
}

/** What differs of a front matter: description and name first, then the other fields. None where the skill is on one side only. */
export function fieldsThatDiffer({ before, after }: SkillChangesPage['metadata']): FieldDifference[] {
  if (before === null || after === null) return []
  const own = (['description', 'name'] as const).map(name => ({ name, before: before[name] || null, after: after[name] || null }))
  const names = new Set([...Object.keys(before.frontMatter), ...Object.keys(after.frontMatter)])
  const spell = (value: FrontMatterValue | undefined) => (value === undefined ? null : spellValue(value))
  const others = [...names]
    .filter(name => name !== 'name' && name !== 'description')
    .map(name => ({ name, before: spell(before.frontMatter[name]), after: spell(after.frontMatter[name]) }))
  return [...own, ...others].filter(field => field.before !== field.after)
}

/** Files behind a part that a list of so many items opens: fewer in a longer list, since the page of each skill has all. */
export function openedFiles(items: number): number {
  return Math.min(OPENED_OF_ITEM, Math.floor(OPENED_OF_LIST / Math.max(1, items)))
}

const OPENED_OF_ITEM = 50
const OPENED_OF_LIST = 500

/** The page of what changed in an item. */
export function changedHref(
  address: Address,
  item: Pick<ChangeItem, 'path'> & { kind: ChangeItem['kind']; movedFrom?: string | undefined },
  from: string | undefined,
): string {
  return pageHref(address, 'changes', { path: item.path, was: item.kind === 'document' ? item.movedFrom : undefined, from })
}

/** What there is to look at in a file, by the line of the new side. */
export function notesOf(
  { commands = [], hosts = [], hiddenCharacters = [] }: ChangeFacts,
  path: string,
  t: PageT,
): Map<number, string[]> {
  const notes = new Map<number, string[]>()
  const points: Extract<Point, { line: number }>[] = [
    ...commands.map(fact => ({ kind: 'command' as const, ...fact })),
    ...hosts.map(fact => ({ kind: 'host' as const, ...fact })),
    ...hiddenCharacters.map(fact => ({ kind: 'hidden' as const, ...fact })),
  ]
  for (const point of points) {
    if (point.path === path) notes.set(point.line, [...(notes.get(point.line) ?? []), pointWords(point, t)])
  }
  return notes
}

const ALL = { ...SIGNS, unchanged: '=' } as const

/** The sign of a change, also of what did not change. */
export function changeSign(change: keyof typeof ALL): string {
  return ALL[change]
}
