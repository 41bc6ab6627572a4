import type { License } from '#core/contract/shared.ts'
import { escapeHidden, printable } from '#core/hidden-text.ts'
import { WARNINGS_PER_SKILL } from '#core/limits.ts'
import { columnWidth, fold, leftPadded, type Paint, padded, type Span, type Style, widthOf } from './fold.ts'
import type { Checked, Finding, SkillReport } from './schema.ts'

export interface TerminalOptions {
  paint: Paint
  /** Columns of the terminal. No line is longer. */
  width: number
  /** Print every list in full. */
  all: boolean
  milliseconds: number
}

/** The report for people: every skill with what agents receive, then the findings, the worst last, beside the summary. */
export function formatReport(report: Checked, options: TerminalOptions): string {
  const blocks = [
    heading(report, options),
    skillsBlock(report, options),
    ...findingsBlocks(report, options),
    changesBlock(report, options),
    summary(report, options),
  ]
  return `${blocks.flatMap(lines => (lines.length === 0 ? [] : [lines.join('\n')])).join('\n\n')}\n`
}

/** The line of a check that failed. */
export function formatFailure(code: string, message: string, { paint, width }: Pick<TerminalOptions, 'paint' | 'width'>): string {
  const spans: Span[] = [{ text: '✗', style: 'red' }, { text: `${code}: ${printable(message)}` }]
  return `${fold(spans, { paint, width, indent: 0 }).join('\n')}\n`
}

/** The report as JSON. Control and invisible characters are escaped. */
export function formatJson(value: unknown, indent?: number): string {
  return `${escapeHidden(JSON.stringify(value, null, indent))}\n`
}

function heading({ folder, source, visibility, delivered }: Checked, options: TerminalOptions): string[] {
  const files = source === 'git' ? 'files that git would commit' : 'all files: this is not a git work tree'
  const place = folder === '' ? 'the whole repository' : `the folder ${printable(folder)}, with the rules above it`
  const line = (text: string, style: Style) => fold([{ text, style }], { ...options, indent: 0 })
  return [
    ...line(`What agents receive from ${place}`, 'bold'),
    ...line(`${files}; as a ${visibility} repository`, 'dim'),
    ...(delivered === 'closed' ? line('Nothing: a manifest here or above is not valid, which closes the folder.', 'red') : []),
    ...(delivered === 'excluded' ? line('Nothing: a manifest above excludes the folder.', 'yellow') : []),
  ]
}

/** Lengths of printed lists without `--all`. */
const SHOWN = { error: 100, warning: 40, info: 15, change: 20, skill: 40, path: 6 } as const

const SIGNS = { error: '✗', warning: '!', info: '·' } as const
const COLORS = { error: 'red', warning: 'yellow', info: 'cyan' } as const
const NOUNS = { error: 'error', warning: 'warning', info: 'note' } as const

function findingsBlocks(report: Checked, options: TerminalOptions): string[][] {
  return (['info', 'warning', 'error'] as const).map(severity => {
    const found = report.findings.filter(finding => finding.severity === severity)
    return found.length === 0 ? [] : listFindings(found, severity, options)
  })
}

function listFindings(findings: readonly Finding[], severity: Finding['severity'], options: TerminalOptions): string[] {
  const { paint, all } = options
  const shown = all ? findings : findings.slice(0, SHOWN[severity])
  const lines = findingLines(shown, () => ({ text: SIGNS[severity], style: COLORS[severity] }), options)
  const left = findings.length - shown.length
  const rest = left === 0 ? [] : fold([{ text: `in all ${countsByCode(findings)}`, style: 'dim' }], { ...options, indent: 2 })
  return [paint('bold', plural(findings.length, NOUNS[severity])), ...lines, ...more(left, paint), ...rest]
}

/** Each on one line, in columns; one that does not fit has its place on a line of its own. */
function findingLines(findings: readonly Finding[], signOf: (finding: Finding) => Span, options: TerminalOptions): string[] {
  const { paint, width } = options
  const column = columnWidth(findings.map(placeOf))
  return findings.flatMap(finding => {
    const { text, style } = signOf(finding)
    const sign = style === undefined ? text : paint(style, text)
    const spans = spansOf(finding)
    const isShort =
      2 + 1 + 1 + Math.max(column, widthOf(placeOf(finding))) + 2 + widthOf(spans.map(span => span.text).join(' ')) <= width
    if (isShort) return [`  ${sign} ${padded(placeOf(finding), column)}  ${fold(spans, { paint, width, indent: 0 })[0]}`]
    const place = fold([{ text: placeOf(finding) }], { paint, width, indent: 4 })
    return [`  ${sign} ${place[0]?.trimStart()}`, ...place.slice(1), ...fold(spans, { paint, width, indent: 4 })]
  })
}

function spansOf({ field, message, costsSkills, advice, code }: Finding): Span[] {
  return [
    { text: `${field === undefined ? '' : `${printable(field)}: `}${printable(message)}` },
    ...(costsSkills === undefined ? [] : [{ text: `(costs ${plural(costsSkills, 'skill')})`, style: 'bold' as const }]),
    ...(advice === undefined ? [] : [{ text: `→ ${advice}`, style: 'dim' as const }]),
    { text: `[${code}]`, style: 'dim' },
  ]
}

function changesBlock({ changes }: Checked, options: TerminalOptions): string[] {
  if (changes === undefined) return []
  const { mended, added } = changes
  const title = `Since the last check: ${number(mended.length)} mended, ${number(added.length)} new`
  const shown = (findings: readonly Finding[]) => (options.all ? findings : findings.slice(0, SHOWN.change))
  const left = mended.length + added.length - shown(mended).length - shown(added).length
  return [
    options.paint('bold', title),
    ...findingLines(shown(mended), () => ({ text: '✓', style: 'green' }), options),
    ...findingLines(shown(added), ({ severity }) => ({ text: '+', style: COLORS[severity] }), options),
    ...more(left, options.paint),
  ]
}

function countsByCode(findings: readonly Finding[]): string {
  const counts = [...Map.groupBy(findings, finding => finding.code)].map(([code, same]) => ({ code, count: same.length }))
  counts.sort((left, right) => right.count - left.count)
  return counts.map(({ code, count }) => `${number(count)} ${code}`).join(', ')
}

function placeOf({ path, line }: Finding): string {
  return `${path === '' ? '.' : printable(path)}${line === undefined ? '' : `:${line}`}`
}

function skillsBlock({ skills }: Checked, options: TerminalOptions): string[] {
  if (skills.length === 0) return []
  const { paint, width } = options
  const sorted = [...skills].sort((left, right) => urgency(left) - urgency(right))
  const shown = options.all ? sorted : sorted.slice(0, SHOWN.skill)
  const rows = tableOf(shown.map(cellsOf))
  const isWide = rows.some(({ line }) => widthOf(line) > width)
  const lines = shown.flatMap((skill, index) => {
    const { path, rest, line } = rows[index] ?? { path: '', rest: '', line: '' }
    const facts = cellsOf(skill)
      .slice(1)
      .filter(cell => cell !== '')
      .join(' · ')
    const first = isWide
      ? [
          ...fold([{ text: path.trimEnd(), style: 'bold' }], { ...options, indent: 2 }),
          ...fold([{ text: facts }], { ...options, indent: 6 }),
        ]
      : [line === '' ? '' : `  ${paint('bold', path)}${rest}`.trimEnd()]
    return [...first, ...skillDetails(skill).flatMap(detail => fold([{ text: detail, style: 'dim' }], { ...options, indent: 6 }))]
  })
  return [paint('bold', plural(skills.length, 'skill')), ...lines, ...more(skills.length - shown.length, paint)]
}

function cellsOf({ delivery, path, license }: SkillReport): string[] {
  if (delivery.kind === 'described') return [printable(path), 'described only', '', '', licenseOf(license, path)]
  const { pages, characters, bytes, tokens } = delivery
  const size = `${number(characters)} characters, ${number(bytes)} bytes`
  return [printable(path), plural(pages, 'page'), size, `~${number(tokens)} tokens`, licenseOf(license, path)]
}

/** Rows in columns: the first and the last are aligned to the left, the others to the right. */
function tableOf(rows: readonly string[][]): { path: string; rest: string; line: string }[] {
  const widths = [0, 1, 2, 3].map(column => columnWidth(rows.map(row => row[column] ?? '')))
  return rows.map(([path = '', ...cells]) => {
    const last = cells.length - 1
    const rest = cells.map((cell, index) => `  ${index === last ? cell : leftPadded(cell, widths[index + 1] ?? 0)}`).join('')
    const first = padded(path, widths[0] ?? 0)
    return { path: first, rest, line: `  ${first}${rest}`.trimEnd() }
  })
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
  const { rules, includes, files, references, outside, oversized, notInstallable } = delivery
  if (notInstallable !== null) details.push(`programs that install skills refuse it: ${printable(notInstallable)}`)
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

function summary(report: Checked, options: TerminalOptions): string[] {
  const { totals, skills, counts, license, truncated, tokenizer } = report
  const { errors, warnings, infos, described, incomplete, full, tokens } = totals
  const found = [plural(errors, 'error'), plural(warnings, 'warning'), plural(infos, 'note')].join(', ')
  const split = [
    `${number(full - incomplete)} in full`,
    ...(incomplete === 0 ? [] : [`${number(incomplete)} incomplete`]),
    ...(described === 0 ? [] : [`${number(described)} described only`]),
  ]
  const inSkills = skills.length === 0 ? '' : ` (${split.join(', ')}; ~${number(tokens)} tokens by ${tokenizer})`
  const spans: Span[] = [
    verdict(report, found),
    ...(isNothingDelivered(report) ? [{ text: '· nothing is delivered in full', style: 'yellow' as const }] : []),
    { text: `· ${plural(skills.length, 'skill')}${inSkills}` },
    { text: `· ${plural(counts.documents, 'document')}` },
    { text: `· ${licenseOf(license)} overall` },
    ...(truncated ? [{ text: '· the index is partial: a limit was reached', style: 'yellow' as const }] : []),
    { text: `· ${(options.milliseconds / 1000).toFixed(1)} s` },
  ]
  return fold(spans, { ...options, indent: 0 })
}

function verdict(report: Checked, found: string): Span {
  const { errors, warnings, incomplete } = report.totals
  if (errors > 0 || incomplete > 0) return { text: `✗ ${found}`, style: 'red' }
  if (isNothingDelivered(report)) return { text: `! ${found}`, style: 'yellow' }
  return { text: `✓ ${found}`, style: warnings > 0 ? 'yellow' : 'green' }
}

/** Whether agents receive no skill in full, or, where there are no skills, no document. */
function isNothingDelivered({ totals, skills, documents }: Checked): boolean {
  if (skills.length > 0) return totals.full - totals.incomplete === 0
  return !documents.some(document => document.describedOnly !== true)
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
