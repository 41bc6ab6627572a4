import { findingOf } from '#core/finding-messages.ts'
import { keyOfFinding, lineOf } from '#words/findings.ts'
import type { PageT, Said, Value } from '#words/t.ts'

/** A warning or a diagnostic of an answer. */
export interface AnsweredFinding {
  code: string
  message: string
}

/** What a finding says in the language of the page; in English, if another process answered. */
export function textOfFinding(finding: AnsweredFinding, t: PageT): string {
  const found = findingOf(finding)
  return (found && t.find(keyOfFinding(found), found.values)) ?? finding.message
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

/** What a finding says around the words that name its first line; `null` when it names none. */
export function aroundLine(finding: AnsweredFinding, said: string, t: PageT) {
  const line = lineOfFinding(finding)
  if (line === null) return null
  const place = [t('reason.line', { n: line }), t('reason.lines', { list: String(line) })].find(words => said.includes(words))
  if (place === undefined) return null
  const at = said.lastIndexOf(place)
  return { line, before: said.slice(0, at), place, after: said.slice(at + place.length) }
}
