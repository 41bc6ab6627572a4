import { type ChangeFacts, type ChangeItem, SKILL_PARTS } from '#core/contract/changes.ts'
import { SentenceError } from '#words/sentence.ts'
import { t } from '#words/t.ts'
import type { Compared } from './difference.ts'

/** Kinds of differences that a caller can fail on. */
export const FAIL_ON = [
  ...SKILL_PARTS,
  'added',
  'removed',
  'moved',
  'errors',
  'hidden-text',
  'hosts',
  'commands',
  'executables',
  'allowed-tools',
  'description',
  'any',
] as const
export type FailOn = (typeof FAIL_ON)[number]

/** A text that names no kind. The message names the known ones. */
export class FailOnError extends SentenceError {}

/** @param text names, separated by commas. @throws FailOnError */
export function parseFailOn(text: string): FailOn[] {
  const names = text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
  return names.map(name => {
    const known = FAIL_ON.find(one => one === name)
    if (known === undefined) throw new FailOnError(t('problem.unknownDifference', { name, names: FAIL_ON.join(', ') }))
    return known
  })
}

/** Those of the `wanted` kinds that at least one item has, in the order of `wanted`; `errors`: that are new. */
export function failuresOf({ items, errors }: Pick<Compared, 'items' | 'errors'>, wanted: readonly FailOn[]): FailOn[] {
  const isFound = (kind: FailOn) =>
    (errors.length > 0 && (kind === 'errors' || kind === 'any')) || items.some(item => isKind(item, kind))
  return wanted.filter(isFound)
}

/** A manifest counts by the skills that it changes, which are items of their own. */
function isKind(item: ChangeItem, kind: FailOn): boolean {
  if (kind === 'any') return true
  if (item.kind === 'manifest') return false
  const { parts, facts, change } = item
  switch (kind) {
    case 'added':
    case 'removed':
    case 'moved':
      return change === kind
    case 'errors':
      return false
    default:
      return kind in FACTS ? hasFact(facts, FACTS[kind as keyof typeof FACTS]) : (parts as readonly string[]).includes(kind)
  }
}

const FACTS = {
  'hidden-text': 'hiddenCharacters',
  hosts: 'hosts',
  commands: 'commands',
  executables: 'executables',
  'allowed-tools': 'allowedTools',
  description: 'description',
} as const satisfies Partial<Record<FailOn, keyof ChangeFacts>>

/** What a limit leaves out may be such a fact. */
function hasFact(facts: ChangeFacts, kind: (typeof FACTS)[keyof typeof FACTS]): boolean {
  return facts[kind] !== undefined || facts.truncated?.some(cut => cut === kind) === true
}
