import { closeName } from '#core/close-name.ts'
import { TITLE_CHARACTERS } from '#core/limits.ts'
import { baseNameOf, isInside, parentOf, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'
import type { DiagnosticRow, FoundRow, WarningRow } from '#core/snapshot/finding-rows.ts'
import type { ContextRow } from '#core/snapshot/format.ts'
import { type Finding, finding, lineOf, messageOf } from '#words/findings.ts'
import type { TextLink } from '../snapshot/text-readings.ts'
import { parseYamlMappingLeniently, splitFrontMatter, type YamlValue } from './front-matter.ts'
import { pathsOfLink } from './references.ts'
import { shortLine } from './short-line.ts'
import { SKILL_FIELDS } from './skill.ts'

/** The whole text of a file of a skill's required reading. */
export interface SkillText {
  path: string
  text: string
}

/** @param text of its file; `null` when it is not known */
export function foundOfDiagnostic({ boundary: _, ...row }: DiagnosticRow, text: string | null): FoundRow {
  const stated = lineOf(row) ?? (row.code === 'manifest.unreadable' ? 1 : undefined)
  const line = text === null ? stated : (fieldLine(text, row.field) ?? stated)
  return { ...row, ...(line === undefined ? {} : { line }) }
}

/** What is found of a skill at its own path. */
interface FoundSkill {
  path: string
  row: Pick<ContextRow, 'warnings' | 'diagnostics' | 'license' | 'full'>
  /** The required reading that could be read, the `SKILL.md` first. */
  texts: readonly SkillText[]
  /** The links of its body, if any of its references lie outside its folder. */
  links: () => readonly TextLink[]
}

/**
 * The findings of a skill's warnings, without those that a diagnostic of the skill repeats, its misspelled fields, and its links that lead out of its
 * folder.
 *
 * @param ofLicense diagnostics of its license at the file that declares it: one of them may say the same as a warning
 */
export function foundInSkill({ path, row, texts, links }: FoundSkill, ofLicense: readonly DiagnosticRow[] = []): FoundRow[] {
  const { source } = row.license
  const sentenceOf = (found: Finding) => `${found.code} ${messageOf(found)}`
  const [reported, reportedAtSource] = [row.diagnostics, ofLicense].map(all => new Set(all.map(sentenceOf)))
  const own = texts.find(text => text.path === path)
  const isUnread = row.warnings.some(({ code }) => UNREADABLE.has(code) || ABSENT.has(code))
  const warned = row.warnings
    .filter(found => !reported?.has(sentenceOf(found)) && !(isUnread && CONSEQUENCES.has(found.code)))
    .map(warning => {
      const found = foundOfWarning(warning, path, texts)
      return source !== null && reportedAtSource?.has(sentenceOf(warning)) ? { ...found, besides: source } : found
    })
  return [
    ...warned,
    ...(own ? misspelledFields(own) : []),
    ...(own && row.full ? leavingLinks(own, row.full.references, texts, links) : []),
  ]
}

/** The linked files outside the folder of a skill. */
export function leavingReferences(path: string, references: readonly string[]): string[] {
  const directory = parentOf(path as RepoPath)
  return references.filter(reference => !isInside(directory, reference as RepoPath))
}

/**
 * The links of a skill that lead out of its folder: where it is installed, their files are missing. Those into folders beside it are left out, since other
 * skills are installed beside it, too.
 */
function leavingLinks(
  own: SkillText,
  references: readonly string[],
  texts: readonly SkillText[],
  links: FoundSkill['links'],
): FoundRow[] {
  const directory = parentOf(own.path as RepoPath)
  const beside = parentOf(directory)
  const isSkillBeside = (path: string) =>
    baseNameOf(path as RepoPath) === SKILL_FILE && parentOf(parentOf(path as RepoPath)) === beside
  const missing = leavingReferences(own.path, references).filter(path => !isSkillBeside(path))
  if (missing.length === 0) return []
  return links().flatMap(({ target }) => {
    const path = pathsOfLink(target, directory).find(one => missing.some(reference => isInside(one, reference as RepoPath)))
    if (path === undefined || path === ROOT || isInside(path, directory)) return []
    const shown = { target: shortLine(target, TITLE_CHARACTERS), path: shortLine(path, TITLE_CHARACTERS) }
    const place = placeOfLink(shown.target, own.path, texts)
    return [{ ...finding('reference.outside:install', shown), severity: 'warning', ...place, within: path }]
  })
}

/** What is written as front matter gives agents nothing. */
const UNREADABLE: ReadonlySet<string> = new Set(['front_matter.invalid', 'front_matter.unterminated'])
/** Nothing is where front matter has to be. */
const ABSENT: ReadonlySet<string> = new Set(['front_matter.missing', 'front_matter.late'])
/** What may be as its author wants it. */
const NOTES: ReadonlySet<string> = new Set(['text.html_comment', 'skill.not_in_mcp'])
/** Follows from front matter that is missing or unreadable, and is told by that. */
const CONSEQUENCES: ReadonlySet<string> = new Set(['name.missing', 'description.missing'])

/** The fields of a skill that agents do not know and that are spelled almost like one they know. */
function misspelledFields({ path, text }: SkillText): FoundRow[] {
  const block = splitFrontMatter(text)
  const yaml = block.kind === 'block' ? parseYamlMappingLeniently(block.yaml) : null
  const mapping = yaml?.ok ? yaml.mapping : {}
  const declared = Object.keys(mapping)
  return declared.flatMap(field => {
    const meant = SKILL_FIELDS.includes(field) ? null : closeName(field, SKILL_FIELDS)
    if (meant === null || declared.includes(meant) || isOwnList(field, meant, mapping[field])) return []
    const line = fieldLine(text, field)
    const found = finding('front_matter.unknown_field', { name: meant })
    return [{ ...found, severity: 'warning', path, ...(line === undefined ? {} : { line }), field }]
  })
}

/** A list under the plural of a field that takes one value, such as the `agents` that a skill is for, is a field of its own. */
function isOwnList(field: string, meant: string, value: YamlValue | undefined): boolean {
  return Array.isArray(value) && field.toLowerCase() === `${meant}s`
}

function foundOfWarning(row: WarningRow, skillPath: string, texts: readonly SkillText[]): FoundRow {
  const { code, values } = row
  const severity = NOTES.has(code) ? 'info' : UNREADABLE.has(code) ? 'error' : 'warning'
  const at = (path: string, line: number | null | undefined): FoundRow => {
    return { ...row, severity, path, ...(line == null ? {} : { line }) }
  }
  const [own] = texts
  if (code.startsWith('text.')) {
    // It stands at the included file, which its words need not name then.
    const { case: _case, ...found } = at(String(values?.path ?? skillPath), lineOf(row))
    return found
  }
  if (code.startsWith('reference.')) {
    const place = placeOfLink(targetOf(row), skillPath, texts)
    return at(place.path, place.line)
  }
  const ofField = own?.path === skillPath ? fieldLine(own.text, row.field) : undefined
  // Of blanks behind dashes the line is told, and the front matter is meant.
  const stated = code === 'front_matter.padded' ? null : lineOf(row)
  return at(skillPath, code.startsWith('front_matter.') ? (stated ?? 1) : ofField)
}

/** What a warning about a reference names. */
function targetOf({ code, values }: WarningRow): string {
  return String(values?.target ?? (code === 'reference.unreadable' ? values?.path : undefined) ?? '')
}

/** Whether the other texts that a skill requires have to be searched for the place of a link. */
export function needsOtherTexts(warnings: readonly WarningRow[], own: SkillText): boolean {
  return warnings.some(row => {
    const target = row.code.startsWith('reference.') ? targetOf(row) : ''
    return target !== '' && own.text.indexOf(`](${target})`, bodyAt(own.text)) < 0
  })
}

/** Finds a link by its target, in the body of the texts. Link syntax is preferred to other occurrences of the target. */
function placeOfLink(target: string, skillPath: string, texts: readonly SkillText[]): { path: string; line?: number } {
  if (target === '') return { path: skillPath }
  for (const spelling of [`](${target})`, `](<${target}>`, `](${target} `, `]: ${target}`, target]) {
    for (const { path, text } of texts) {
      const index = text.indexOf(spelling, bodyAt(text))
      if (index >= 0) return { path, line: lineAt(text, index) }
    }
  }
  return { path: skillPath }
}

function bodyAt(text: string): number {
  return text.length - splitFrontMatter(text).body.length
}

/** The line of a field of the front matter. */
function fieldLine(text: string, field: string | undefined): number | undefined {
  const [first = '', ...lines] = text.split('\n', FRONT_MATTER_LINES)
  if (field === undefined || !/^\uFEFF?---\s*$/.test(first)) return undefined
  const index = lines.findIndex(line => line.startsWith(`${field}:`) || /^(?:---|\.\.\.)\s*$/.test(line))
  return lines[index]?.startsWith(`${field}:`) ? index + 2 : undefined
}

const FRONT_MATTER_LINES = 500

function lineAt(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++
  return line
}
