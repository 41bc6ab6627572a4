import { ADVICE } from '#core/advice.ts'
import { closeName } from '#core/close-name.ts'
import type { Diagnostic, Warning } from '#core/contract/shared.ts'
import { TITLE_CHARACTERS } from '#core/limits.ts'
import { baseNameOf, isInside, parentOf, type RepoPath, ROOT, SKILL_FILE } from '#core/repo-path.ts'
import { compareBytes } from '#core/text.ts'
import { say } from '#words/findings.ts'
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

export function findingOfDiagnostic({ severity, code, path, field, message }: Diagnostic, text: SkillText | null): Finding {
  const stated = statedLine(message) ?? (code === 'manifest.unreadable' ? 1 : undefined)
  const line = text === null ? stated : (fieldLine(text.text, field) ?? stated)
  return finding({ severity, code, path, line, field, message })
}

/**
 * The findings of a skill's warnings, without those that a diagnostic repeats, and its misspelled fields.
 *
 * @param texts the required reading that could be read, the `SKILL.md` first
 * @param diagnostics of the folder: that of a license stands at the file that declares it
 */
export function findingsOfSkill(
  skill: SkillReport,
  texts: readonly SkillText[],
  diagnostics: readonly Diagnostic[] = [],
): Finding[] {
  const ofLicense = diagnostics.filter(({ code, path }) => code.startsWith('license.') && path === skill.license.source)
  const reported = new Set([...skill.diagnostics, ...ofLicense].map(({ code, message }) => `${code} ${message}`))
  const own = texts.find(({ path }) => path === skill.path)
  const isUnread = skill.warnings.some(({ code }) => UNREADABLE.has(code) || ABSENT.has(code))
  const warned = skill.warnings
    .filter(({ code, message }) => !reported.has(`${code} ${message}`) && !(isUnread && CONSEQUENCES.has(code)))
    .map(warning => findingOfWarning(warning, skill.path, texts))
  const found = [...warned, ...(own ? misspelledFields(own) : [])].map(one => ({ ...one, skill: skill.path }))
  const outside = skill.delivery.kind === 'full' ? skill.delivery.outside : []
  return [
    ...found,
    ...(own && skill.delivery.kind === 'full' ? leavingLinks(own, skill.delivery.references, texts) : []),
    ...outside.map(path => {
      const message = say('reference.outside:folder', { path })
      return { ...finding({ severity: 'warning', code: 'reference.outside', path: skill.path, message }), skill: skill.path }
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
    const message = say('reference.outside:install', {
      target: shortLine(target, TITLE_CHARACTERS),
      path: shortLine(path, TITLE_CHARACTERS),
    })
    const place = placeOfLink(message, own.path, texts)
    return [{ ...finding({ severity: 'warning', code: 'reference.outside', message, ...place }), skill: own.path }]
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
    const message = say('front_matter.unknown_field', { name: meant })
    return [
      finding({ severity: 'warning', code: 'front_matter.unknown_field', path, line: fieldLine(text, field), field, message }),
    ]
  })
}

/** A list under the plural of a field that takes one value, such as the `agents` that a skill is for, is a field of its own. */
function isOwnList(field: string, meant: string, value: YamlValue | undefined): boolean {
  return Array.isArray(value) && field.toLowerCase() === `${meant}s`
}

/** A finding of the check itself. `n`: how many files it is about, where its message says that. */
export function ownFinding(code: keyof typeof OWN, path: string, n = 0): Finding {
  return finding({ severity: OWN[code], code, path, message: say(code, { n }) })
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

function findingOfWarning({ code, field, message }: Warning, skillPath: string, texts: readonly SkillText[]): Finding {
  const severity = NOTES.has(code) ? 'info' : UNREADABLE.has(code) ? 'error' : 'warning'
  const [own] = texts
  if (code.startsWith('text.')) {
    const path = texts.find(text => message.startsWith(`${text.path}: `))?.path
    const said = path === undefined ? message : message.slice(path.length + 2)
    return finding({ severity, code, path: path ?? skillPath, line: statedLine(said), message: said })
  }
  if (code.startsWith('reference.')) return finding({ severity, code, field, message, ...placeOfLink(message, skillPath, texts) })
  const ofField = own?.path === skillPath ? fieldLine(own.text, field) : undefined
  const line = code.startsWith('front_matter.') ? (statedLine(message) ?? 1) : ofField
  return finding({ severity, code, path: skillPath, line, field, message })
}

/** The first line in a message like `… on line 3` or `… on lines 3, 5`. */
function statedLine(message: string): number | undefined {
  const stated = /\bon lines? (\d+)/.exec(message)?.[1]
  return stated === undefined ? undefined : Number(stated)
}

/** Finds the link that a message begins with, in the body of the texts. Link syntax is preferred to other occurrences of the target. */
function placeOfLink(message: string, skillPath: string, texts: readonly SkillText[]): { path: string; line?: number } {
  const target = message.slice(0, Math.max(message.lastIndexOf(' leads '), message.lastIndexOf(' cannot be read: ')))
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

interface Found {
  severity: Finding['severity']
  code: string
  path: string
  line?: number | undefined
  field?: string | undefined
  message: string
}

function finding({ severity, code, path, line, field, message }: Found): Finding {
  const advice = ADVICE[code]
  return {
    severity,
    code,
    path,
    ...(line === undefined ? {} : { line }),
    ...(field === undefined ? {} : { field }),
    message,
    ...(advice === undefined ? {} : { advice }),
  }
}
