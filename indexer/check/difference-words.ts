import { changedParts } from '#core/change-groups.ts'
import { partsLine } from '#core/change-words.ts'
import type { ChangedSkill, ChangeItem } from '#core/contract/changes.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { printable } from '#core/hidden-text.ts'
import { isInside, type RepoPath } from '#core/repo-path.ts'
import { formatNumber, t } from '#words/t.ts'
import type { Compared, NewError } from './difference.ts'

/** Each kind of change has a sign, so that nothing is told by color alone. */
export const SIGNS = { added: '+', removed: '-', changed: '~', moved: '→' } as const

/** What happened to an item, on one line. Items of a group differ alike. @param errors those that are new @param all name every file behind it */
export function whatOf(item: ChangeItem, errors: readonly NewError[], all = false): string {
  const parts = changedParts(item).map(one => partsLine(one, all))
  const closing = item.change === 'removed' ? closingError(item.path, errors) : undefined
  if (item.kind === 'manifest') {
    const isInvalid = closing?.path === item.path
    const what = isInvalid ? t('diff.notValid') : item.change === 'changed' ? parts.join(', ') : t(`diff.changes.${item.change}`)
    const skills = isInvalid ? closing.skills.length : item.skills
    return t('diff.changesSkills', { what, skills: t('counts.skill', { n: skills }) })
  }
  const lacks = item.kind === 'skill' && becameIncomplete(item) ? [t('diff.incomplete')] : []
  if (item.change === 'changed') return [...parts, ...lacks].join('; ')
  if (closing !== undefined) return t('diff.closedBy', { what: t('diff.changes.removed'), path: printable(closing.path) })
  const from = item.movedFrom === undefined ? '' : ` ${t('diff.from', { path: printable(item.movedFrom) })}`
  return [`${t(`diff.changes.${item.change}`)}${from}`, ...parts, ...lacks].join('; ')
}

/** The error that closes a folder around the path. */
function closingError(path: string, errors: readonly NewError[]): NewError | undefined {
  return errors.find(({ boundary }) => boundary !== undefined && isInside(boundary as RepoPath, path as RepoPath))
}

/** Whether agents lack something of the skill that they did not lack before. */
function becameIncomplete({ before, after }: ChangedSkill): boolean {
  return after?.complete === false && before?.complete !== false
}

/** Tokens of all items before and after; empty if no side delivers a text. */
export function tokensOf(items: readonly ChangeItem[]): string {
  if (items.every(({ before, after }) => (before?.tokens ?? after?.tokens ?? null) === null)) return ''
  const sum = (side: 'before' | 'after') => items.reduce((all, item) => all + (item[side]?.tokens ?? 0), 0)
  const [was, is] = [sum('before'), sum('after')]
  if (was === is) return t('diff.tokens', { n: formatNumber(was) })
  return t('diff.tokensChange', { before: formatNumber(was), after: formatNumber(is) })
}

/** A fact, with the items that have it. */
export interface SharedFact {
  text: string
  /** Paths of the items. An item is left out where the text already names a file of it. */
  items: string[]
}

/** What a reviewer looks at first: new errors, then facts. */
export function pointsOf({ items, errors }: Pick<Compared, 'items' | 'errors'>): SharedFact[] {
  const told = errors.map(({ path, code, message, skills }) => ({
    text: t('diff.error', { path: printable(path), message: printable(message), code }),
    items: skills.filter(skill => skill !== path),
  }))
  return [...told, ...sharedFacts(items)]
}

/** The facts that a reviewer looks for, each once: kind by kind, in the order of the items. */
export function sharedFacts(items: readonly ChangeItem[]): SharedFact[] {
  const facts = new Map<string, string[]>()
  for (const kind of FACTS) {
    for (const item of items) {
      for (const { text, path } of item.kind === 'manifest' ? [] : kind(item)) {
        const named = path === item.path || (item.kind === 'skill' && path?.startsWith(`${item.directory}/`))
        const paths = facts.get(text) ?? []
        if (!named) paths.push(item.path)
        facts.set(text, paths)
      }
    }
  }
  return [...facts].map(([text, paths]) => ({ text, items: paths }))
}

/** A sentence, and the file that it names. */
type Fact = { text: string; path?: string }

type ItemWithFacts = Exclude<ChangeItem, { kind: 'manifest' }>

/** Hosts are last: there may be many. */
const FACTS: readonly ((item: ItemWithFacts) => Fact[])[] = [
  ({ facts: { hiddenCharacters = [] } }) =>
    hiddenCharacters.map(({ path, line, codePoint, count }) => ({
      text: t('diff.hiddenCharacters', { codePoint, count, path: printable(path), line }),
      path,
    })),
  // Of an item that is new, everything is.
  ({ facts: { description }, before }) => {
    if (description === undefined || before === null) return []
    const spell = (value: string | null) => (value === null ? t('diff.none') : printable(value))
    return [{ text: t('diff.description', { before: spell(description.before), after: spell(description.after) }) }]
  },
  ({ facts: { commands = [] } }) =>
    commands.map(({ command, path, line }) => ({
      text: t('diff.command', { command: printable(command), path: printable(path), line }),
      path,
    })),
  ({ facts: { allowedTools } }) => {
    const spell = (value: FrontMatterValue | null) => (value === null ? t('diff.none') : spellValue(value))
    if (allowedTools === undefined) return []
    return [{ text: t('diff.allowedTools', { before: spell(allowedTools.before), after: spell(allowedTools.after) }) }]
  },
  ({ facts: { executables = [] } }) => executables.map(path => ({ text: t('diff.executable', { path: printable(path) }), path })),
  ({ facts: { serving } }) => (serving === undefined ? [] : [{ text: t(`diff.${serving}`) }]),
  ({ facts: { truncated } }) => (truncated === undefined ? [] : [{ text: t('diff.moreFacts', { kinds: truncated.join(', ') }) }]),
  ({ facts: { hosts = [] } }) =>
    hosts.map(({ host, path, line }) => ({
      text: t('diff.host', { host: printable(host), path: printable(path), line }),
      path,
    })),
]

/** `18 skills`: items of one kind. */
export function countOf(items: readonly ChangeItem[]): string {
  return t(`counts.${items[0]?.kind ?? 'skill'}`, { n: items.length })
}

const NOUNS = { manifests: 'manifest', skills: 'skill', documents: 'document' } as const

/** `2 skills changed, 1 added; 1 document removed` */
export function countsOf({ counts, notCompared }: Pick<Compared, 'counts' | 'notCompared'>): string {
  const kinds = (Object.keys(counts) as (keyof typeof counts)[]).flatMap(kind => {
    const told = (['changed', 'added', 'removed', 'moved'] as const).filter(change => counts[kind][change] > 0)
    if (told.length === 0) return []
    const phrases = told.map((change, index) => {
      const changed = counts[kind][change]
      const counted = index > 0 ? formatNumber(changed) : t(`counts.${NOUNS[kind]}`, { n: changed })
      return t('diff.counted', { counted, change: t(`diff.changes.${change}`) })
    })
    return [phrases.join(', ')]
  })
  if (kinds.length > 0) return kinds.join('; ')
  return hasAny(notCompared) ? t('diff.sameCompared') : t('diff.same')
}

/** `not compared: 2 skills, 1 document, …`; `null` when every text is compared. */
export function notComparedLine({ notCompared }: Pick<Compared, 'notCompared'>): string | null {
  if (!hasAny(notCompared)) return null
  const told = (['skills', 'documents'] as const).filter(kind => notCompared[kind] > 0)
  return t('diff.notCompared', {
    items: told.map(kind => t(`counts.${NOUNS[kind]}`, { n: notCompared[kind] })).join(', '),
  })
}

function hasAny({ skills, documents }: Compared['notCompared']): boolean {
  return skills + documents > 0
}

function spellValue(value: FrontMatterValue): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value))
}
