import type { License } from '#core/contract/shared.ts'
import { escapeHidden, printable } from '#core/hidden-text.ts'
import { WARNINGS_PER_SKILL } from '#core/limits.ts'
import { formatNumber, formatTenths, t } from '#words/t.ts'
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
    excludedBlock(report, options),
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

/** The report as JSON. Control and hidden characters are escaped. */
export function formatJson(value: unknown, indent?: number): string {
  return `${escapeHidden(JSON.stringify(value, null, indent))}\n`
}

function heading({ folder, source, visibility, delivered }: Checked, options: TerminalOptions): string[] {
  const files = source === 'git' ? t('check.filesOfGit') : t('check.allFiles')
  const place = folder === '' ? t('check.wholeRepository') : t('check.oneFolder', { folder: printable(folder) })
  const line = (text: string, style: Style) => fold([{ text, style }], { ...options, indent: 0 })
  return [
    ...line(t('check.title', { place }), 'bold'),
    ...line(t(visibility === 'public' ? 'check.asPublic' : 'check.asPrivate', { files }), 'dim'),
    ...(delivered === 'closed' ? line(t('check.closed'), 'red') : []),
    ...(delivered === 'excluded' ? line(t('check.excluded'), 'yellow') : []),
  ]
}

/** Lengths of printed lists without `--all`. */
const SHOWN = { error: 100, warning: 40, info: 15, change: 20, skill: 40, excluded: 10, path: 6 } as const

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
  const counts = countsByCode(findings)
  const rest = left === 0 ? [] : fold([{ text: t('check.inAll', { counts }), style: 'dim' }], { ...options, indent: 2 })
  const title = t(`counts.${NOUNS[severity]}`, { n: findings.length })
  return [paint('bold', title), ...lines, ...more(left, options), ...rest]
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
  const costs = costsSkills === undefined ? null : t('check.costs', { skills: t('counts.skill', { n: costsSkills }) })
  return [
    { text: `${field === undefined ? '' : `${printable(field)}: `}${printable(message)}` },
    ...(costs === null ? [] : [{ text: costs, style: 'bold' as const }]),
    ...(advice === undefined ? [] : [{ text: `→ ${advice}`, style: 'dim' as const }]),
    { text: `[${code}]`, style: 'dim' },
  ]
}

function changesBlock({ changes }: Checked, options: TerminalOptions): string[] {
  if (changes === undefined) return []
  const { mended, added } = changes
  const title = t('check.changes', { mended: formatNumber(mended.length), added: formatNumber(added.length) })
  const shown = (findings: readonly Finding[]) => (options.all ? findings : findings.slice(0, SHOWN.change))
  const left = mended.length + added.length - shown(mended).length - shown(added).length
  return [
    options.paint('bold', title),
    ...findingLines(shown(mended), () => ({ text: '✓', style: 'green' }), options),
    ...findingLines(shown(added), ({ severity }) => ({ text: '+', style: COLORS[severity] }), options),
    ...more(left, options),
  ]
}

function countsByCode(findings: readonly Finding[]): string {
  const counts = [...Map.groupBy(findings, finding => finding.code)].map(([code, same]) => ({ code, count: same.length }))
  counts.sort((left, right) => right.count - left.count)
  return counts.map(({ code, count }) => `${formatNumber(count)} ${code}`).join(', ')
}

function placeOf({ path, line }: Finding): string {
  return `${path === '' ? '.' : printable(path)}${line === undefined ? '' : `:${line}`}`
}

function skillsBlock({ skills }: Checked, options: TerminalOptions): string[] {
  if (skills.length === 0) return []
  const { paint, width } = options
  const sorted = [...skills].sort((left, right) => urgency(left) - urgency(right))
  const shown = options.all ? sorted : sorted.slice(0, SHOWN.skill)
  const rows = tableOf(shown.map(skill => cellsOf(skill)))
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
  const title = t('counts.skill', { n: skills.length })
  return [paint('bold', title), ...lines, ...more(skills.length - shown.length, options)]
}

function cellsOf({ delivery, path, license }: SkillReport): string[] {
  const own = licenseOf(license, path)
  if (delivery.kind === 'described') return [printable(path), t('check.describedOnly'), '', '', own]
  const { pages, characters, bytes, tokens } = delivery
  const size = t('check.size', { characters: formatNumber(characters), bytes: formatNumber(bytes) })
  return [printable(path), t('counts.page', { n: pages }), size, t('check.tokens', { tokens: formatNumber(tokens) }), own]
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

function excludedBlock({ excluded }: Checked, options: TerminalOptions): string[] {
  if (excluded.length === 0) return []
  const shown = options.all ? excluded : excluded.slice(0, SHOWN.excluded)
  const lines = shown.flatMap(({ path, skills }) => {
    const inside = skills === 0 ? [] : [{ text: `(${t('counts.skill', { n: skills })})` }]
    return fold([{ text: printable(path) }, ...inside], { ...options, indent: 2 })
  })
  const title = t('counts.excluded', { n: excluded.length })
  return [options.paint('bold', title), ...lines, ...more(excluded.length - shown.length, options)]
}

function urgency({ delivery }: SkillReport): number {
  return delivery.kind === 'described' ? 1 : delivery.complete ? 2 : 0
}

function skillDetails(skill: SkillReport): string[] {
  const { delivery, name, path, listed, warnings } = skill
  const details: string[] = []
  const named = path.split('/').at(-2) === name ? [] : [t('check.named', { name: printable(name) })]
  if (!listed) named.push(t('check.internal'))
  if (delivery.kind === 'described') return [[...named, printable(delivery.reason)].join('; ')]
  if (!delivery.complete) details.push(t('check.incomplete'))
  const { rules, includes, files, references, outside, oversized, notInstallable } = delivery
  if (notInstallable !== null) details.push(t('check.notInstallable', { reason: printable(notInstallable) }))
  const read = [...rules.map(piece => printable(piece.path)), t('check.body'), ...includes.map(piece => printable(piece.path))]
  if (read.length > 1) details.push(t('check.reads', { texts: read.join(' → ') }))
  const counted = (paths: readonly string[], noun: 'reference' | 'referenceOutside' | 'file' | 'fileTooLarge') =>
    paths.length === 0 ? [] : [t(`counts.${noun}`, { n: paths.length })]
  const besides = [
    ...named,
    ...counted(files, 'file').map(counted => t('check.listed', { count: counted, names: someOf(files, path) })),
    ...counted(references, 'reference'),
    ...counted(outside, 'referenceOutside'),
    ...counted(
      oversized.map(file => file.path),
      'fileTooLarge',
    ),
  ]
  if (besides.length > 0) details.push(besides.join('; '))
  if (warnings.length >= WARNINGS_PER_SKILL) details.push(t('check.firstWarnings', { n: WARNINGS_PER_SKILL }))
  return details
}

/** Supporting files, relative to the folder of their skill. */
function someOf(files: readonly string[], skillPath: string): string {
  const prefix = skillPath.slice(0, skillPath.lastIndexOf('/') + 1)
  const shown = files.slice(0, SHOWN.path).map(path => printable(path.startsWith(prefix) ? path.slice(prefix.length) : path))
  const names = shown.join(', ')
  return files.length > shown.length ? t('check.andMore', { names, n: files.length - shown.length }) : names
}

/** @param own path of the file whose license it is */
function licenseOf({ kind, name, source }: License, own?: string): string {
  if (kind === 'none') return t('check.licenses.none')
  const license = printable(name ?? t(`check.licenses.${kind}`))
  if (source === null) return license
  return source === own ? t('check.byFrontMatter', { license }) : t('check.byFile', { license, file: printable(source) })
}

function summary(report: Checked, options: TerminalOptions): string[] {
  const { totals, skills, counts, license, truncated } = report
  const { errors, warnings, infos, described, incomplete, full, tokens } = totals
  const found = [t('counts.error', { n: errors }), t('counts.warning', { n: warnings }), t('counts.note', { n: infos })].join(
    ', ',
  )
  const parts = [
    t('check.inFull', { n: formatNumber(full - incomplete) }),
    ...(incomplete === 0 ? [] : [t('check.areIncomplete', { n: formatNumber(incomplete) })]),
    ...(described === 0 ? [] : [t('check.areDescribed', { n: formatNumber(described) })]),
  ].join(', ')
  const counted = t('counts.skill', { n: skills.length })
  const split = t('check.split', { skills: counted, parts, tokens: formatNumber(tokens) })
  const spans: Span[] = [
    verdict(report, found),
    ...(isNothingDelivered(report) ? [{ text: `· ${t('check.nothingInFull')}`, style: 'yellow' as const }] : []),
    { text: `· ${skills.length === 0 ? counted : split}` },
    { text: `· ${t('counts.document', { n: counts.documents })}` },
    { text: `· ${t('check.overall', { license: licenseOf(license) })}` },
    ...(truncated ? [{ text: `· ${t('check.partial')}`, style: 'yellow' as const }] : []),
    { text: `· ${t('check.seconds', { n: formatTenths(options.milliseconds / 1000) })}` },
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

function more(count: number, { paint }: TerminalOptions): string[] {
  return count === 0 ? [] : [paint('dim', `  ${t('check.more', { n: formatNumber(count) })}`)]
}
