import type { License } from '#core/contract/shared.ts'
import { codePointName, hiddenCharacters } from '#core/hidden-text.ts'
import { WARNINGS_PER_SKILL } from '#core/limits.ts'
import type { Checked, Finding, SkillReport } from './schema.ts'

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'
/** Returns the text in a style, or unchanged where the output has no styles. */
export type Paint = (style: Style, text: string) => string

export interface TerminalOptions {
  paint: Paint
  /** Print every list in full. */
  all: boolean
  milliseconds: number
}

/** The report for people: findings, then every skill with what agents receive, then a summary line. */
export function formatReport(report: Checked, options: TerminalOptions): string {
  const blocks = [heading(report, options), findingsBlock(report, options), skillsBlock(report, options)]
  return `${[...blocks.filter(block => block !== ''), summary(report, options)].join('\n\n')}\n`
}

/** The report as JSON. Control and invisible characters are escaped. */
export function formatJson(value: unknown, indent?: number): string {
  const spelled = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `${replaceHidden(JSON.stringify(value, null, indent), hidden => hidden.split('').map(spelled).join(''))}\n`
}

/** Text of a repository on one line, with invisible characters as `<U+…>`. */
export function printable(text: string): string {
  return replaceHidden(text.replace(/[\t\r\n]+/g, ' '), hidden => `<${codePointName(hidden)}>`)
}

function replaceHidden(text: string, replace: (character: string) => string): string {
  let shown = ''
  let from = 0
  for (const { index, character } of hiddenCharacters(text)) {
    shown += text.slice(from, index) + replace(character)
    from = index + character.length
  }
  return shown + text.slice(from)
}

function heading({ folder, source, visibility, delivered }: Checked, { paint }: TerminalOptions): string {
  const files = source === 'git' ? 'files that git would commit' : 'all files: this is not a git work tree'
  const place = folder === '' ? 'the whole repository' : `the folder ${printable(folder)}, with the rules above it`
  const lines = [`${paint('bold', `What agents receive from ${place}`)}`, paint('dim', `${files}; as a ${visibility} repository`)]
  if (delivered === 'closed') lines.push(paint('red', 'Nothing: a manifest here or above is not valid, which closes the folder.'))
  if (delivered === 'excluded') lines.push(paint('yellow', 'Nothing: a manifest above excludes the folder.'))
  return lines.join('\n')
}

/** Lengths of printed lists without `--all`. */
const SHOWN = { error: 100, warning: 40, info: 15, skill: 40, path: 6 } as const

const SIGNS = { error: '✗', warning: '!', info: '·' } as const
const COLORS = { error: 'red', warning: 'yellow', info: 'cyan' } as const
const NOUNS = { error: 'error', warning: 'warning', info: 'note' } as const

function findingsBlock(report: Checked, options: TerminalOptions): string {
  const severities = ['error', 'warning', 'info'] as const
  return severities
    .map(severity => {
      const found = report.findings.filter(finding => finding.severity === severity)
      return found.length === 0 ? '' : listFindings(found, severity, options)
    })
    .filter(block => block !== '')
    .join('\n\n')
}

function listFindings(findings: readonly Finding[], severity: Finding['severity'], { paint, all }: TerminalOptions): string {
  const shown = all ? findings : findings.slice(0, SHOWN[severity])
  const places = shown.map(placeOf)
  const width = columnWidth(places)
  const lines = shown.map((finding, index) => {
    const sign = paint(COLORS[severity], SIGNS[severity])
    const advice = finding.advice === undefined ? '' : ` ${paint('dim', `→ ${finding.advice}`)}`
    const field = finding.field === undefined ? '' : `${printable(finding.field)}: `
    return `  ${sign} ${padded(places[index] ?? '', width)}  ${field}${printable(finding.message)}${advice}  ${paint('dim', `[${finding.code}]`)}`
  })
  const title = paint('bold', plural(findings.length, NOUNS[severity]))
  const rest = shown.length < findings.length ? [paint('dim', `  in all ${countsByCode(findings)}`)] : []
  return [title, ...lines, ...more(findings.length - shown.length, paint), ...rest].join('\n')
}

function countsByCode(findings: readonly Finding[]): string {
  const counts = [...Map.groupBy(findings, finding => finding.code)].map(([code, same]) => ({ code, count: same.length }))
  counts.sort((left, right) => right.count - left.count)
  return counts.map(({ code, count }) => `${number(count)} ${code}`).join(', ')
}

function placeOf({ path, line }: Finding): string {
  return `${path === '' ? '.' : printable(path)}${line === undefined ? '' : `:${line}`}`
}

function skillsBlock({ skills }: Checked, { paint, all }: TerminalOptions): string {
  if (skills.length === 0) return ''
  const sorted = [...skills].sort((left, right) => urgency(left) - urgency(right))
  const shown = all ? sorted : sorted.slice(0, SHOWN.skill)
  const rows = shown.map(skill => {
    const { delivery, path } = skill
    if (delivery.kind === 'described') return [printable(path), 'described only', '', '', licenseOf(skill.license, path)]
    const { pages, characters, bytes, tokens } = delivery
    const size = `${number(characters)} characters, ${number(bytes)} bytes`
    return [printable(path), plural(pages, 'page'), size, `~${number(tokens)} tokens`, licenseOf(skill.license, path)]
  })
  const widths = [0, 1, 2, 3].map(column => columnWidth(rows.map(row => row[column] ?? '')))
  const lines = shown.flatMap((skill, index) => {
    const row = rows[index] ?? []
    const cells = row.map((cell, column) => (column === 0 || column === 4 ? cell : leftPadded(cell, widths[column] ?? 0)))
    const first = `  ${paint('bold', padded(cells[0] ?? '', widths[0] ?? 0))}  ${cells.slice(1).join('  ')}`
    return [first.trimEnd(), ...skillDetails(skill).map(detail => `      ${paint('dim', detail)}`)]
  })
  return [paint('bold', plural(skills.length, 'skill')), ...lines, ...more(skills.length - shown.length, paint)].join('\n')
}

function urgency({ delivery }: SkillReport): number {
  return delivery.kind === 'described' ? 1 : delivery.complete ? 2 : 0
}

function skillDetails(skill: SkillReport): string[] {
  const { delivery, name, path, listed, warnings } = skill
  const details: string[] = []
  const named = path.split('/').at(-2) === name ? [] : [`named ${printable(name)}`]
  if (!listed) named.push('internal: not listed, loaded only by its path')
  if (delivery.kind === 'described') return [[...named, printable(delivery.reason)].join('; ')]
  if (!delivery.complete) details.push('incomplete: required content is missing')
  const { rules, includes, files, references, outside, oversized } = delivery
  const read = [...rules.map(piece => piece.path), 'body', ...includes.map(piece => piece.path)]
  if (read.length > 1) details.push(`reads ${read.map(printable).join(' → ')}`)
  const besides = [
    ...named,
    ...(files.length === 0 ? [] : [`${plural(files.length, 'file')}: ${someOf(files, path)}`]),
    ...(references.length === 0 ? [] : [plural(references.length, 'reference')]),
    ...(outside.length === 0 ? [] : [`${plural(outside.length, 'reference')} outside the folder`]),
    ...(oversized.length === 0 ? [] : [`${plural(oversized.length, 'file')} too large to read`]),
  ]
  if (besides.length > 0) details.push(besides.join('; '))
  if (warnings.length >= WARNINGS_PER_SKILL) details.push(`only its first ${WARNINGS_PER_SKILL} warnings are listed`)
  return details
}

/** Supporting files, relative to the folder of their skill. */
function someOf(files: readonly string[], skillPath: string): string {
  const prefix = skillPath.slice(0, skillPath.lastIndexOf('/') + 1)
  const names = files.slice(0, SHOWN.path).map(path => printable(path.startsWith(prefix) ? path.slice(prefix.length) : path))
  return files.length > names.length ? `${names.join(', ')} and ${files.length - names.length} more` : names.join(', ')
}

/** @param own path of the file whose license it is */
function licenseOf({ kind, name, source }: License, own?: string): string {
  const from = source === null ? '' : source === own ? ' by its front matter' : ` by ${printable(source)}`
  return kind === 'none' ? 'no license' : `${printable(name ?? `${kind} license`)}${from}`
}

function summary({ totals, skills, counts, license, truncated, tokenizer }: Checked, options: TerminalOptions): string {
  const { paint, milliseconds } = options
  const { errors, warnings, infos, described, incomplete, full, tokens } = totals
  const failed = errors > 0 || incomplete > 0
  const found = [plural(errors, 'error'), plural(warnings, 'warning'), plural(infos, 'note')].join(', ')
  const split = [
    `${number(full - incomplete)} in full`,
    ...(incomplete === 0 ? [] : [`${number(incomplete)} incomplete`]),
    ...(described === 0 ? [] : [`${number(described)} described only`]),
  ]
  const parts = [
    paint(failed ? 'red' : warnings > 0 ? 'yellow' : 'green', `${failed ? '✗' : '✓'} ${found}`),
    `${plural(skills.length, 'skill')}${skills.length === 0 ? '' : ` (${split.join(', ')}; ~${number(tokens)} tokens by ${tokenizer})`}`,
    plural(counts.documents, 'document'),
    `${licenseOf(license)} overall`,
    ...(truncated ? [paint('yellow', 'the index is partial: a limit was reached')] : []),
    `${(milliseconds / 1000).toFixed(1)} s`,
  ]
  return parts.join(' · ')
}

function more(count: number, paint: Paint): string[] {
  return count === 0 ? [] : [paint('dim', `  … and ${number(count)} more; --all shows them`)]
}

function plural(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}

/** Maximum width of a column; longer cells overflow. */
const MAX_COLUMN_WIDTH = 60

function columnWidth(cells: readonly string[]): number {
  return Math.min(MAX_COLUMN_WIDTH, Math.max(0, ...cells.map(widthOf)))
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

function leftPadded(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text
}

/** The approximate width in terminal columns: wide scripts and emoji take two, marks none. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u
