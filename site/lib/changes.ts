import type { ChangeFacts } from '#core/contract/changes.ts'
import type { Words } from '../words/en/en.ts'
import { fill } from '../words/ui.ts'

/** Each kind of change has a sign beside its color. */
export const SIGNS = { added: '+', removed: '−', changed: '~', moved: '→' } as const

/** The facts that a reviewer looks for, a sentence each. */
export function factsOf(facts: ChangeFacts, say: Words['changes']['facts']): string[] {
  const { hiddenCharacters = [], hosts = [], executables = [], allowedTools, serving } = facts
  const spell = (value: unknown) => (value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value))
  return [
    ...hiddenCharacters.map(({ path, codePoint, count }) => fill(say.hidden, { path, codePoint, count: String(count) })),
    ...hosts.map(({ host, path }) => fill(say.host, { host, path })),
    ...executables.map(path => fill(say.executable, { path })),
    ...(allowedTools ? [fill(say.allowedTools, { before: spell(allowedTools.before), after: spell(allowedTools.after) })] : []),
    ...(serving === undefined ? [] : [say[serving]]),
  ]
}

export interface DifferenceLine {
  kind: 'added' | 'removed' | 'hunk' | 'context' | 'continued'
  /** With its sign, without its line end. */
  text: string
}

/**
 * The lines of a piece of a unified difference.
 *
 * @param isWithinLine the piece begins within a line, whose sign stands on the page before: what stands at its beginning is text, and no sign
 */
export function differenceLines(content: string, isWithinLine: boolean): DifferenceLine[] {
  const lines = content.endsWith('\n') ? content.slice(0, -1).split('\n') : content.split('\n')
  return lines.map((text, index) => {
    if (isWithinLine && index === 0) return { kind: 'continued', text }
    if (text.startsWith('+')) return { kind: 'added', text }
    if (text.startsWith('-')) return { kind: 'removed', text }
    return { kind: text.startsWith('@@') ? 'hunk' : 'context', text }
  })
}
