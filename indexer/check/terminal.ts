import { escapeHidden, printable } from '#core/hidden-text.ts'
import { formatNumber, formatTenths, t } from '#words/t.ts'
import { type Entry, entryLines, fold, type Span, textOf } from './fold.ts'
import type { Checked, Finding } from './schema.ts'
import { COLORS, type ListOptions, licenseName, licenseOf, more, NOUNS, SIGNS, skillLines } from './skill-table.ts'

export interface TerminalOptions extends ListOptions {
  milliseconds: number
}

/** The report for people: a line for each skill, then the findings, the worst last, beside the summary. */
export function formatReport(report: Checked, options: TerminalOptions): string {
  const blocks = [
    heading(report, options),
    skillLines(report, options),
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

/** What was checked: in full, or only where it is not the files of a public repository that git would commit. */
function heading({ folder, source, visibility, delivered }: Checked, options: TerminalOptions): string[] {
  const files = source === 'git' ? t('check.filesOfGit') : t('check.allFiles')
  const place = folder === '' ? t('check.wholeRepository') : t('check.oneFolder', { folder: printable(folder) })
  const line = (span: Span) => fold([span], { ...options, indent: 0 })
  const unusual = [
    ...(folder === '' ? [] : [place]),
    ...(source === 'git' ? [] : [files]),
    ...(visibility === 'public' ? [] : [t('check.privately')]),
  ]
  const head = options.verbose
    ? [
        ...line({ text: t('check.title', { place }), style: 'bold' }),
        ...line({ text: t(visibility === 'public' ? 'check.asPublic' : 'check.asPrivate', { files }), style: 'dim' }),
      ]
    : unusual.length === 0
      ? []
      : line({ text: unusual.join('; '), style: 'dim' })
  return [
    ...head,
    ...(delivered === 'closed' ? line({ text: t('check.closed'), style: 'red' }) : []),
    ...(delivered === 'excluded' ? line({ text: t('check.excluded'), style: 'yellow' }) : []),
  ]
}

/** Findings of one code, and other entries of a list, that are printed without `all`. */
const SHOWN = { error: 40, warning: 10, info: 5, change: 20 } as const

function findingsBlocks(report: Checked, options: TerminalOptions): string[][] {
  return (['info', 'warning', 'error'] as const).map(severity => {
    const found = report.findings.filter(finding => finding.severity === severity)
    if (found.length === 0) return []
    const groups = [...Map.groupBy(found, finding => finding.code).values()]
    const title = options.paint('bold', t(`counts.${NOUNS[severity]}`, { n: found.length }))
    return [title, ...groups.flatMap(group => groupLines(group, severity, options))]
  })
}

/** Findings of one code: each with its place, and once what to do. What all of them say is told once, too. */
function groupLines(group: readonly Finding[], severity: Finding['severity'], options: TerminalOptions): string[] {
  const shown = options.all ? group : group.slice(0, SHOWN[severity])
  const [first] = group as readonly [Finding]
  if (group.length === 1) return entryLines([entryOf(first, [...saidOf(first), ...adviceOf(first)], options)], options)
  const isSame = new Set(group.map(finding => textOf(saidOf(finding)))).size === 1
  const entries = shown.map(finding => entryOf(finding, isSame ? [] : saidOf(finding), options))
  return [
    ...entryLines(entries, options),
    ...more(group.length - shown.length, options, 4),
    ...fold([...(isSame ? saidOf(first) : []), ...adviceOf(first)], { ...options, indent: 4 }),
  ]
}

/** What is wrong. */
function saidOf({ field, message, costsSkills }: Finding): Span[] {
  const costs = costsSkills === undefined ? null : t('check.costs', { skills: t('counts.skill', { n: costsSkills }) })
  return [
    { text: `${field === undefined ? '' : `${printable(field)}: `}${printable(message)}` },
    ...(costs === null ? [] : [{ text: costs, style: 'bold' as const }]),
  ]
}

/** What to do. */
function adviceOf({ advice, code }: Finding): Span[] {
  return [
    ...(advice === undefined ? [] : [{ text: `→ ${advice}`, style: 'dim' as const }]),
    { text: `[${code}]`, style: 'dim', whole: true },
  ]
}

/** @param sign default: that of its severity */
function entryOf(finding: Finding, said: readonly Span[], { linkTo }: TerminalOptions, sign?: Span): Entry {
  const { severity, path, line } = finding
  const link = linkTo(path, line)
  return {
    sign: sign ?? { text: SIGNS[severity], style: COLORS[severity] },
    place: { text: placeOf(finding), ...(link !== null && { link }) },
    said,
  }
}

function placeOf({ path, line }: Finding): string {
  return `${path === '' ? '.' : printable(path)}${line === undefined ? '' : `:${line}`}`
}

function changesBlock({ changes }: Checked, options: TerminalOptions): string[] {
  if (changes === undefined) return []
  const { mended, added } = changes
  const title = t('check.changes', { mended: formatNumber(mended.length), added: formatNumber(added.length) })
  const shown = (findings: readonly Finding[]) => (options.all ? findings : findings.slice(0, SHOWN.change))
  const left = mended.length + added.length - shown(mended).length - shown(added).length
  const lines = (findings: readonly Finding[], signOf: (finding: Finding) => Span) => {
    const entry = (finding: Finding) => entryOf(finding, [...saidOf(finding), ...adviceOf(finding)], options, signOf(finding))
    return entryLines(shown(findings).map(entry), options)
  }
  return [
    options.paint('bold', title),
    ...lines(mended, () => ({ text: '✓', style: 'green' })),
    ...lines(added, ({ severity }) => ({ text: '+', style: COLORS[severity] })),
    ...more(left, options),
  ]
}

/** How much manifests exclude. What it is stands in the full list. */
function excludedBlock({ excluded }: Checked, options: TerminalOptions): string[] {
  if (excluded.length === 0) return []
  const skills = excluded.reduce((sum, one) => sum + one.skills, 0)
  const paths = t('counts.excluded', { n: excluded.length })
  const title = skills === 0 ? paths : t('check.excludedSkills', { paths, skills: t('counts.skill', { n: skills }) })
  const lines = excluded.flatMap(one => {
    const inside = one.skills === 0 ? [] : [{ text: `(${t('counts.skill', { n: one.skills })})` }]
    return fold([{ text: printable(one.path), whole: true }, ...inside], { ...options, indent: 2 })
  })
  return options.all ? [options.paint('bold', title), ...lines] : [options.paint('dim', title)]
}

/** The last line: what was found, and what agents receive. */
function summary(report: Checked, options: TerminalOptions): string[] {
  const { skills, counts, license, truncated } = report
  const isVerbose = options.verbose
  const spans: Span[] = [
    verdict(report),
    ...(isNothingDelivered(report) ? [{ text: `· ${t('check.nothingInFull')}`, style: 'yellow' as const }] : []),
    { text: `· ${skills.length === 0 ? t('counts.skill', { n: 0 }) : sumOf(report)}` },
    ...(skills.length === 0 || isVerbose ? [{ text: `· ${t('counts.document', { n: counts.documents })}` }] : []),
    { text: `· ${isVerbose ? licenseOf(license) : licenseName(license)}` },
    ...(truncated ? [{ text: `· ${t('check.partial')}`, style: 'yellow' as const }] : []),
    { text: `· ${t('check.seconds', { n: formatTenths(options.milliseconds / 1000) })}` },
  ]
  return fold(spans, { ...options, indent: 0 })
}

/** How many skills, which of them not in full, and their tokens. */
function sumOf({ totals, skills }: Checked): string {
  const { described, incomplete, full } = totals
  const counted = t('counts.skill', { n: skills.length })
  const tokens = formatNumber(totals.tokens)
  if (described === 0 && incomplete === 0) return t('check.sum', { skills: counted, tokens })
  const parts = [
    t('check.inFull', { n: formatNumber(full - incomplete) }),
    ...(incomplete === 0 ? [] : [t('check.areIncomplete', { n: formatNumber(incomplete) })]),
    ...(described === 0 ? [] : [t('check.areDescribed', { n: formatNumber(described) })]),
  ].join(', ')
  return t('check.split', { skills: counted, parts, tokens })
}

function verdict(report: Checked): Span {
  const { errors, warnings, infos, incomplete } = report.totals
  const found = [
    t('counts.error', { n: errors }),
    ...(warnings === 0 ? [] : [t('counts.warning', { n: warnings })]),
    ...(infos === 0 ? [] : [t('counts.note', { n: infos })]),
  ].join(', ')
  if (errors > 0 || incomplete > 0) return { text: `✗ ${found}`, style: 'red' }
  if (isNothingDelivered(report)) return { text: `! ${found}`, style: 'yellow' }
  return { text: `✓ ${found}`, style: warnings > 0 ? 'yellow' : 'green' }
}

/** Whether agents receive no skill in full, or, where there are no skills, no document. */
function isNothingDelivered({ totals, skills, documents }: Checked): boolean {
  if (skills.length > 0) return totals.full - totals.incomplete === 0
  return !documents.some(document => document.describedOnly !== true)
}
