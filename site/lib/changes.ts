import type { ChangeFacts, ChangeItem, ChangesPage, SkillChangesPage } from '#core/contract/changes.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import type { PageT } from '#words/t.ts'
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
      return t('changes.points.script', { path: point.path })
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

/** The same, without a description that is told elsewhere. */
export function withoutDescription({ description: _, ...facts }: ChangeFacts): ChangeFacts {
  return facts
}

/** `2 skills, 1 document`: those whose texts a license withholds; `null` if there are none. */
export function withheldItems({ skills, documents }: ChangesPage['notCompared'], { t }: Pick<Ui, 't'>): string | null {
  const items = [
    ...(skills > 0 ? [t('counts.skill', { n: skills })] : []),
    ...(documents > 0 ? [t('counts.document', { n: documents })] : []),
  ]
  return items.length === 0 ? null : items.join(', ')
}

/** Whether a license withholds the texts of a side, so that they are not compared. */
export function isDescribedOnly({ before, after }: Pick<SkillChangesPage['skill'], 'before' | 'after'>): boolean {
  return [before, after].some(side => side?.full === false)
}

/** Tokens of items before and after, as words; `null` if no side delivers a text. */
export function tokensOf(items: readonly Pick<ChangeItem, 'before' | 'after'>[], { number, t }: Ui): string | null {
  if (items.every(({ before, after }) => (before?.tokens ?? after?.tokens ?? null) === null)) return null
  const sum = (side: 'before' | 'after') => items.reduce((all, item) => all + (item[side]?.tokens ?? 0), 0)
  const [before, after] = [number(sum('before')), number(sum('after'))]
  return t('changes.tokens', { tokens: before === after ? `~${after}` : `~${before} → ~${after}` })
}

/** The fields of a front matter that differ, without name and description, which have their own place: a line each, before and after. */
export function fieldsThatDiffer({
  before,
  after,
}: SkillChangesPage['metadata']): { before: string | null; after: string | null }[] {
  if (before === null || after === null) return []
  const names = new Set([...Object.keys(before.frontMatter), ...Object.keys(after.frontMatter)])
  const spell = (name: string, value: unknown) =>
    value === undefined ? null : `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`
  return [...names]
    .filter(name => name !== 'name' && name !== 'description')
    .map(name => ({ before: spell(name, before.frontMatter[name]), after: spell(name, after.frontMatter[name]) }))
    .filter(field => field.before !== field.after)
}

export interface DifferenceLine {
  kind: 'added' | 'removed' | 'hunk' | 'context' | 'continued' | 'note'
  /** With its sign, without its line end. */
  text: string
}

/**
 * The lines of a piece of a unified difference. A last line that only got a line end, since more lines follow it now, is shown as unchanged.
 *
 * @param isWithinLine the piece begins within a line, whose sign stands on the page before: what stands at its beginning is text, and no sign
 */
export function differenceLines(content: string, isWithinLine: boolean): DifferenceLine[] {
  const texts = content.endsWith('\n') ? content.slice(0, -1).split('\n') : content.split('\n')
  const lines = texts.map((text, index) => ({ kind: isWithinLine && index === 0 ? 'continued' : kindOf(text), text }) as const)
  return lines.flatMap((line, at): DifferenceLine[] => {
    const isSame = (from: number) =>
      lines[from]?.kind === 'removed' &&
      lines[from + 1]?.kind === 'note' &&
      lines[from + 2]?.kind === 'added' &&
      lines[from + 3]?.kind === 'added' &&
      lines[from]?.text.slice(1) === lines[from + 2]?.text.slice(1)
    if (isSame(at)) return [{ kind: 'context', text: ` ${line.text.slice(1)}` }]
    return isSame(at - 1) || isSame(at - 2) ? [] : [line]
  })
}

function kindOf(text: string): DifferenceLine['kind'] {
  if (text.startsWith('+')) return 'added'
  if (text.startsWith('-')) return 'removed'
  if (text.startsWith('\\')) return 'note'
  return text.startsWith('@@') ? 'hunk' : 'context'
}

const ALL = { ...SIGNS, unchanged: '=' } as const

/** The sign of a change, also of what did not change. */
export function changeSign(change: keyof typeof ALL): string {
  return ALL[change]
}
