import { findingOf } from '#core/finding-messages.ts'
import { keyOfFinding, lineOf, tellsLines } from '#words/findings.ts'
import type { PageT, Said, Value, Values } from '#words/t.ts'

/** A warning or a diagnostic of an answer. */
export interface AnsweredFinding {
  code: string
  message: string
  field?: string | undefined
}

/**
 * A piece of what a finding says. `words`: of the catalogue. `name`, `path`: of the repository, in a direction of its own. `line`: words that name the
 * first line. `message`: the whole sentence in English, with names in it.
 */
export interface FindingPart {
  kind: 'words' | 'name' | 'path' | 'line' | 'message'
  text: string
  isCode: boolean
}

/** What a finding says in the language of the page; in English, if another process answered. */
export function partsOfFinding(finding: AnsweredFinding, t: PageT): FindingPart[] {
  const found = findingOf(finding)
  const field = unquotedField(finding)
  const line = lineOfFinding(finding)
  if (field !== undefined && line !== null && finding.field === undefined)
    return withLine(withCode(piecesOf('findings.unquoted', { n: line, field }, t)), line, t)
  const key = found && keyOfFinding(found)
  if (found === undefined || key === undefined || t.find(key) === undefined) {
    // Of a skill that is only described nothing is quoted.
    const kind = found?.case === 'described' ? t.find(`findingKind.${found.code}`) : undefined
    if (kind !== undefined) return [{ kind: 'words', text: kind, isCode: false }]
    return partsOfCode(finding.message).map(part => ({ kind: 'message', ...part }))
  }
  const values = { ...found.values, ...(finding.field !== undefined && { field: finding.field }) }
  return withLine(withCode(piecesOf(key, values, t)), lineOf(found), t)
}

/** The same as a sentence: it begins with a capital letter, unless with a name or code, and ends. */
export function sentenceOfFinding(finding: AnsweredFinding, t: PageT): FindingPart[] {
  const parts = partsOfFinding(finding, t).filter(({ text }) => text !== '')
  const [first, ...others] = parts
  if (first === undefined) return []
  const begun = first.kind === 'words' && !first.isCode ? { ...first, text: capitalized(first.text) } : first
  const isEnded = /[.?!]$/.test(parts.at(-1)?.text ?? '')
  return [begun, ...others, ...(isEnded ? [] : [{ kind: 'words' as const, text: '.', isCode: false }])]
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

interface Piece {
  kind: 'words' | 'name' | 'path' | 'line'
  text: string
}

/** The sentence of a key, cut around the names in it and around the words that name lines. */
function piecesOf(key: string, values: Values, t: PageT): Piece[] {
  const numbers = Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'number'))
  return (t.find(key, numbers) ?? key).split(/\{(\w+)\}/).flatMap((text, index): Piece[] => {
    if (index % 2 === 0) return [{ kind: 'words', text }]
    const value = values[text] ?? ''
    if (typeof value !== 'object') return [{ kind: PATHS.has(text) ? 'path' : 'name', text: String(value) }]
    return tellsLines(value)
      ? [{ kind: 'line', text: t.find(value.key, value.values) ?? '' }]
      : piecesOf(value.key, value.values ?? {}, t)
  })
}

/** Gaps for paths. */
const PATHS: ReadonlySet<string> = new Set(['path', 'target'])

/** Words between backticks are code; a backtick of a name is none of these. */
function withCode(pieces: readonly Piece[]): FindingPart[] {
  let isCode = false
  return pieces.flatMap(({ kind, text }): FindingPart[] => {
    if (kind !== 'words') return [{ kind, text, isCode }]
    return text.split('`').map((words, index) => {
      if (index > 0) isCode = !isCode
      return { kind: 'words', text: words, isCode }
    })
  })
}

/** The words that name a line stand alone, also where they are part of the sentence. */
function withLine(parts: readonly FindingPart[], line: number | null, t: PageT): FindingPart[] {
  if (line === null || parts.some(({ kind }) => kind === 'line')) return [...parts]
  const place = t('reason.line', { n: line })
  const at = parts.findLastIndex(({ kind, text }) => kind === 'words' && text.includes(place))
  return parts.flatMap((part, index): FindingPart[] => {
    if (index !== at) return [part]
    const start = part.text.lastIndexOf(place)
    return [
      { ...part, text: part.text.slice(0, start) },
      { ...part, kind: 'line', text: place },
      { ...part, text: part.text.slice(start + place.length) },
    ]
  })
}

function partsOfCode(text: string): Omit<FindingPart, 'kind'>[] {
  return text.split(/`([^`]+)`/).map((words, index) => ({ text: words, isCode: index % 2 === 1 }))
}

/** Whether two findings say the same on a page, which names their fields, too. */
export function saySame(left: AnsweredFinding, right: AnsweredFinding, t: PageT): boolean {
  return left.message === right.message && sentenceOf(left, t) === sentenceOf(right, t)
}

function sentenceOf(finding: AnsweredFinding, t: PageT): string {
  return partsOfFinding(finding, t)
    .map(({ text }) => text)
    .join('')
}

/** Whether the words of a finding name its line. */
export function namesLine(finding: AnsweredFinding, t: PageT): boolean {
  return partsOfFinding(finding, t).some(({ kind }) => kind === 'line')
}

/** The first line that a finding names, from 1; `null` when it names none. */
export function lineOfFinding(finding: AnsweredFinding): number | null {
  const found = findingOf(finding)
  return found === undefined ? null : lineOf(found)
}

/** The field of front matter whose value lacks quotes: YAML reads a colon in it as that of an entry. */
export function unquotedField(finding: AnsweredFinding): string | undefined {
  const why = findingOf(finding)?.values?.why
  const fault = isSaid(why) && why.key === 'reason.ofField' ? why.values?.why : undefined
  const cause = isSaid(fault) && fault.key === 'reason.onLine' ? fault.values?.reason : undefined
  return isSaid(why) && isSaid(cause) && cause.key === 'reason.yamlEntryIndent' ? String(why.values?.name) : undefined
}

const isSaid = (value: Value | undefined): value is Said => typeof value === 'object'

/** The file that a warning is about, if it is not the skill. */
export function fileOfFinding(finding: AnsweredFinding): string | undefined {
  const found = findingOf(finding)
  return found?.case === 'in' ? String(found.values?.path) : undefined
}
