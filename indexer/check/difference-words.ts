import type { ChangeFacts, ChangeItem } from '#core/contract/changes.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { printable } from '#core/hidden-text.ts'
import type { Compared } from './difference.ts'

/** Each kind of change has a sign, so that nothing is told by color alone. */
export const SIGNS = { added: '+', removed: '-', changed: '~', moved: '→' } as const

/** What happened to an item, on one line. */
export function whatOf(item: ChangeItem): string {
  if (item.kind === 'manifest') {
    const what = item.change === 'changed' ? item.parts.join(', ') : item.change
    return `${what}; changes ${plural(item.skills, 'skill')}`
  }
  const causes = item.kind === 'skill' ? [...new Set(item.causes.map(({ path }) => path))].filter(path => path !== item.path) : []
  return [
    item.change === 'changed' ? item.parts.join(', ') : item.change,
    ...(item.movedFrom === undefined ? [] : [`from ${printable(item.movedFrom)}`]),
    ...(item.change === 'moved' && item.parts.length > 0 ? [`with other ${item.parts.join(', ')}`] : []),
    ...(causes.length === 0 ? [] : [`by ${listOf(causes.map(printable))}`]),
  ].join(' ')
}

/** Tokens before and after; empty where neither side delivers the text. */
export function tokensOf({ before, after }: ChangeItem): string {
  const [was, is] = [before?.tokens ?? null, after?.tokens ?? null]
  if (was === null && is === null) return ''
  if (was === is) return `${number(was ?? 0)} tokens`
  return `${was === null ? 'none' : number(was)} → ${is === null ? 'none' : number(is)} tokens`
}

/** The facts that a reviewer looks for, a line each. */
export function factLines(facts: ChangeFacts): string[] {
  const { hiddenCharacters = [], hosts = [], executables = [], allowedTools, serving } = facts
  return [
    ...hiddenCharacters.map(
      ({ path, codePoint, count }) => `new hidden characters: ${codePoint} ×${count} in ${printable(path)}`,
    ),
    ...hosts.map(({ host, path }) => `new host in links: ${printable(host)} in ${printable(path)}`),
    ...executables.map(path => `new executable file: ${printable(path)}`),
    ...(allowedTools ? [`allowed-tools: ${spellValue(allowedTools.before)} → ${spellValue(allowedTools.after)}`] : []),
    ...(serving === 'opened' ? ['its license permits a copy now: delivered in full'] : []),
    ...(serving === 'closed' ? ['its license permits no copy any more: described only'] : []),
  ]
}

/** `2 skills changed, 1 added; 1 document removed` */
export function countsOf({ counts }: Pick<Compared, 'counts'>): string {
  const kinds = Object.entries(counts).flatMap(([kind, count]) => {
    const told = (['changed', 'added', 'removed', 'moved'] as const).filter(change => count[change] > 0)
    if (told.length === 0) return []
    const words = told.map((change, index) => {
      const noun = index > 0 ? '' : ` ${count[change] === 1 ? kind.slice(0, -1) : kind}`
      return `${number(count[change])}${noun} ${change}`
    })
    return [words.join(', ')]
  })
  return kinds.length === 0 ? 'agents read the same' : kinds.join('; ')
}

function spellValue(value: FrontMatterValue | null): string {
  if (value === null) return 'none'
  return printable(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Causes that are named; the rest is counted. */
const NAMED = 3

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ')
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown
}

export function plural(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}
