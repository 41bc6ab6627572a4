import { closeName } from '#core/close-name.ts'
import { keepFinding } from '#core/finding-messages.ts'
import { TITLE_CHARACTERS } from '#core/limits.ts'
import { baseNameOf, isInside, parentOf, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'
import type { DiagnosticRow, WarningRow } from '#core/snapshot/finding-rows.ts'
import type { ContextRow } from '#core/snapshot/format.ts'
import { compareBytes } from '#core/text.ts'
import { type Finding as Found, finding, lineOf, messageOf } from '#words/findings.ts'
import { t } from '#words/t.ts'
import { parseYamlMappingLeniently, splitFrontMatter, type YamlValue } from '../rules/front-matter.ts'
import { pathsOfLink } from '../rules/references.ts'
import { shortLine } from '../rules/short-line.ts'
import { SKILL_FIELDS } from '../rules/skill.ts'
import { linksOfText } from '../rules/skill-links.ts'
import type { Finding, SkillReport } from './schema.ts'

/** The whole text of a file of a skill's required reading. */
export interface SkillText {
  path: string
  text: string
}

/** @param costsSkills how many skills it keeps from agents */
export function findingOfDiagnostic(row: DiagnosticRow, text: SkillText | null, costsSkills?: number): Finding {
  const stated = lineOf(row) ?? (row.code === 'manifest.unreadable' ? 1 : undefined)
  const line = text === null ? stated : (fieldLine(text.text, row.field) ?? stated)
  const { severity, path, field } = row
  return show(row, { severity, path, line, field, costsSkills })
}

/**
 * The findings of a skill's warnings, without those that a diagnostic repeats, and its misspelled fields.
 *
 * @param row as it is stored
 * @param texts the required reading that could be read, the `SKILL.md` first
 * @param diagnostics of the folder: that of a license stands at the file that declares it
 */
export function findingsOfSkill(
  skill: Pick<SkillReport, 'path' | 'license' | 'delivery'>,
  row: Pick<ContextRow, 'warnings' | 'diagnostics'>,
  texts: readonly SkillText[],
  diagnostics: readonly DiagnosticRow[] = [],
): Finding[] {
  const ofLicense = diagnostics.filter(({ code, path }) => code.startsWith('license.') && path === skill.license.source)
  const sentenceOf = (found: Found) => `${found.code} ${messageOf(found)}`
  const reported = new Set([...row.diagnostics, ...ofLicense].map(sentenceOf))
  const own = texts.find(({ path }) => path === skill.path)
  const isUnread = row.warnings.some(({ code }) => UNREADABLE.has(code) || ABSENT.has(code))
  const warned = row.warnings
    .filter(found => !reported.has(sentenceOf(found)) && !(isUnread && CONSEQUENCES.has(found.code)))
    .map(warning => findingOfWarning(warning, skill.path, texts))
  const outside = skill.delivery.kind === 'full' ? skill.delivery.outside : []
  return [
    ...warned,
    ...(own ? misspelledFields(own) : []),
    ...(own && skill.delivery.kind === 'full' ? leavingLinks(own, skill.delivery.references, texts) : []),
    ...outside.map(path => {
      const found = finding('reference.outside:folder', { path })
      return show(found, { severity: 'warning', path: skill.path, skill: skill.path })
    }),
  ]
}

/**
 * The links of a skill that lead out of its folder: where it is installed, their files are missing. Those into folders beside it are left out, since other
 * skills are installed beside it, too.
 */
function leavingLinks(own: SkillText, references: readonly string[], texts: readonly SkillText[]): Finding[] {
  const directory = parentOf(own.path as RepoPath)
  const beside = parentOf(directory)
  const isMissing = (path: string) => !isInside(directory, path as RepoPath) && !isSkillBeside(path)
  const isSkillBeside = (path: string) =>
    baseNameOf(path as RepoPath) === SKILL_FILE && parentOf(parentOf(path as RepoPath)) === beside
  const missing = references.filter(isMissing)
  if (missing.length === 0) return []
  return linksOfText(directory, splitFrontMatter(own.text).body).links.flatMap(({ target }) => {
    const path = pathsOfLink(target, directory).find(one => missing.some(reference => isInside(one, reference as RepoPath)))
    if (path === undefined || path === ROOT || isInside(path, directory)) return []
    const shown = { target: shortLine(target, TITLE_CHARACTERS), path: shortLine(path, TITLE_CHARACTERS) }
    const place = placeOfLink(shown.target, own.path, texts)
    return [show(finding('reference.outside:install', shown), { severity: 'warning', ...place, skill: own.path })]
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
function misspelledFields({ path, text }: SkillText): Finding[] {
  const block = splitFrontMatter(text)
  const yaml = block.kind === 'block' ? parseYamlMappingLeniently(block.yaml) : null
  const mapping = yaml?.ok ? yaml.mapping : {}
  const declared = Object.keys(mapping)
  return declared.flatMap(field => {
    const meant = SKILL_FIELDS.includes(field) ? null : closeName(field, SKILL_FIELDS)
    if (meant === null || declared.includes(meant) || isOwnList(field, meant, mapping[field])) return []
    const found = finding('front_matter.unknown_field', { name: meant })
    return [show(found, { severity: 'warning', path, line: fieldLine(text, field), field, skill: path })]
  })
}

/** A list under the plural of a field that takes one value, such as the `agents` that a skill is for, is a field of its own. */
function isOwnList(field: string, meant: string, value: YamlValue | undefined): boolean {
  return Array.isArray(value) && field.toLowerCase() === `${meant}s`
}

/** A finding of the check itself. `n`: how many files it is about, where its message says that. */
export function ownFinding(code: keyof typeof OWN, path: string, n = 0): Finding {
  return show({ code, values: { n } }, { severity: OWN[code], path })
}

const OWN = {
  'folder.empty': 'warning',
  'folder.links_unchecked': 'info',
  'folder.unlicensed': 'warning',
  'folder.excluded': 'warning',
  'folder.unreadable': 'error',
  'folder.not_checked_out': 'warning',
} as const

/** Sorts by severity, path and line, and drops duplicates. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  const unique = new Map(findings.map(one => [[one.code, one.path, one.field, one.message].join('\0'), one]))
  return [...unique.values()].sort(
    (left, right) =>
      RANK[left.severity] - RANK[right.severity] || compareBytes(left.path, right.path) || (left.line ?? 0) - (right.line ?? 0),
  )
}

const RANK = { error: 0, warning: 1, info: 2 } as const

function findingOfWarning(row: WarningRow, skillPath: string, texts: readonly SkillText[]): Finding {
  const { code, field, values } = row
  const severity = NOTES.has(code) ? 'info' : UNREADABLE.has(code) ? 'error' : 'warning'
  const where = { severity, field, skill: skillPath } as const
  const [own] = texts
  if (code.startsWith('text.')) {
    // It stands at the included file, which its words need not name then.
    return show({ code, values }, { ...where, path: String(values?.path ?? skillPath), line: lineOf(row) })
  }
  if (code.startsWith('reference.')) {
    const target = values?.target ?? (code === 'reference.unreadable' ? values?.path : undefined)
    return show(row, { ...where, ...placeOfLink(String(target ?? ''), skillPath, texts) })
  }
  const ofField = own?.path === skillPath ? fieldLine(own.text, field) : undefined
  // Of blanks behind dashes the line is told, and the front matter is meant.
  const stated = code === 'front_matter.padded' ? null : lineOf(row)
  return show(row, { ...where, path: skillPath, line: code.startsWith('front_matter.') ? (stated ?? 1) : ofField })
}

/** Finds a link by its target, in the body of the texts. Link syntax is preferred to other occurrences of the target. */
function placeOfLink(target: string, skillPath: string, texts: readonly SkillText[]): { path: string; line?: number } {
  if (target === '') return { path: skillPath }
  for (const spelling of [`](${target})`, `](<${target}>`, `](${target} `, `]: ${target}`, target]) {
    for (const { path, text } of texts) {
      const index = text.indexOf(spelling, text.length - splitFrontMatter(text).body.length)
      if (index >= 0) return { path, line: lineAt(text, index) }
    }
  }
  return { path: skillPath }
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

/** Where a finding stands, and what it means for the author. */
interface Shown {
  severity: Finding['severity']
  path: string
  line?: number | null | undefined
  field?: string | undefined
  skill?: string
  costsSkills?: number | undefined
}

function show(found: Found, { severity, path, line, field, skill, costsSkills }: Shown): Finding {
  const advice = t.find(`advice.${found.code}`)
  const shown: Finding = {
    severity,
    code: found.code,
    path,
    ...(line === undefined || line === null ? {} : { line }),
    ...(field === undefined ? {} : { field }),
    message: messageOf(found),
    ...(advice === undefined ? {} : { advice }),
    ...(skill === undefined ? {} : { skill }),
    ...(costsSkills === undefined ? {} : { costsSkills }),
  }
  return keepFinding(shown, found)
}
