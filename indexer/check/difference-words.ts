import type { ChangeFacts, ChangeItem } from '#core/contract/changes.ts'
import type { FrontMatterValue } from '#core/contract/skill.ts'
import { printable } from '#core/hidden-text.ts'
import { ENGLISH_SPEECH, fill, type Speech } from '#core/words/speech.ts'
import type { Compared } from './difference.ts'

/** Each kind of change has a sign, so that nothing is told by color alone. */
export const SIGNS = { added: '+', removed: '-', changed: '~', moved: '→' } as const

/** What happened to an item, on one line. */
export function whatOf(item: ChangeItem, speech: Speech = ENGLISH_SPEECH): string {
  const { words, count } = speech
  const say = words.diff
  const what = item.change === 'changed' ? item.parts.join(', ') : say.changes[item.change]
  if (item.kind === 'manifest') return fill(say.changesSkills, { what, skills: count(item.skills, words.counts.skill) })
  const causes = item.kind === 'skill' ? [...new Set(item.causes.map(({ path }) => path))].filter(path => path !== item.path) : []
  return [
    what,
    ...(item.movedFrom === undefined ? [] : [fill(say.from, { path: printable(item.movedFrom) })]),
    ...(item.change === 'moved' && item.parts.length > 0 ? [fill(say.with, { parts: item.parts.join(', ') })] : []),
    ...(causes.length === 0 ? [] : [fill(say.by, { paths: listOf(causes.map(printable), speech) })]),
  ].join(' ')
}

/** Tokens before and after; empty where neither side delivers the text. */
export function tokensOf({ before, after }: ChangeItem, { words, number }: Speech = ENGLISH_SPEECH): string {
  const say = words.diff
  const [was, is] = [before?.tokens ?? null, after?.tokens ?? null]
  if (was === null && is === null) return ''
  if (was === is) return fill(say.tokens, { n: number(was ?? 0) })
  return fill(say.tokensChange, {
    before: was === null ? say.none : number(was),
    after: is === null ? say.none : number(is),
  })
}

/** The facts that a reviewer looks for, a line each. */
export function factLines(facts: ChangeFacts, { words }: Speech = ENGLISH_SPEECH): string[] {
  const say = words.diff
  const { hiddenCharacters = [], hosts = [], executables = [], allowedTools, serving } = facts
  const spell = (value: FrontMatterValue | null) => (value === null ? say.none : spellValue(value))
  return [
    ...hiddenCharacters.map(({ path, codePoint, count }) =>
      fill(say.hiddenCharacters, { codePoint, count, path: printable(path) }),
    ),
    ...hosts.map(({ host, path }) => fill(say.host, { host: printable(host), path: printable(path) })),
    ...executables.map(path => fill(say.executable, { path: printable(path) })),
    ...(allowedTools ? [fill(say.allowedTools, { before: spell(allowedTools.before), after: spell(allowedTools.after) })] : []),
    ...(serving === 'opened' ? [say.opened] : []),
    ...(serving === 'closed' ? [say.closed] : []),
  ]
}

const NOUNS = { manifests: 'manifest', skills: 'skill', documents: 'document' } as const

/** `2 skills changed, 1 added; 1 document removed` */
export function countsOf({ counts }: Pick<Compared, 'counts'>, { words, number, count }: Speech = ENGLISH_SPEECH): string {
  const say = words.diff
  const kinds = (Object.keys(counts) as (keyof typeof counts)[]).flatMap(kind => {
    const told = (['changed', 'added', 'removed', 'moved'] as const).filter(change => counts[kind][change] > 0)
    if (told.length === 0) return []
    const phrases = told.map((change, index) => {
      const changed = counts[kind][change]
      const counted = index > 0 ? number(changed) : count(changed, words.counts[NOUNS[kind]])
      return fill(say.counted, { counted, change: say.changes[change] })
    })
    return [phrases.join(', ')]
  })
  return kinds.length === 0 ? say.same : kinds.join('; ')
}

function spellValue(value: FrontMatterValue): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Causes that are named; the rest is counted. */
const NAMED = 3

function listOf(names: readonly string[], { words }: Speech): string {
  const shown = names.slice(0, NAMED).join(', ')
  return names.length > NAMED ? fill(words.check.andMore, { names: shown, n: names.length - NAMED }) : shown
}
