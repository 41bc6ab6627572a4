import type { License } from '#core/contract/shared.ts'
import { printable } from '#core/hidden-text.ts'
import { WARNINGS_PER_SKILL } from '#core/limits.ts'
import { formatNumber, t } from '#words/t.ts'
import { fold, leftPadded, type Paint, padded, painted, type Span, widthOf } from './fold.ts'
import type { Checked, Finding, SkillReport } from './schema.ts'

/** How the parts of a report are printed. */
export interface ListOptions {
  paint: Paint
  /** Columns of a line. A line is longer only where one path or one row is. */
  width: number
  /** Print every list in full. */
  all: boolean
  /** Print what agents receive with each skill, too. */
  verbose: boolean
  /** The URL of a file of the repository; `null` where the terminal has no links, or makes them itself. */
  linkTo(path: string, line?: number): string | null
}

/** Each severity has a sign, so that nothing is told by color alone. */
export const SIGNS = { error: '✗', warning: '!', info: '·' } as const
export const COLORS = { error: 'red', warning: 'yellow', info: 'cyan' } as const
export const NOUNS = { error: 'error', warning: 'warning', info: 'note' } as const
const SEVERITIES = ['error', 'warning', 'info'] as const

/** Lengths of printed lists without `all`. */
const SHOWN = { skill: 40, path: 6 } as const

type Cell = readonly Span[]

/** A column of the table. It is left out where every cell is empty. */
interface Column {
  title: string
  pad: typeof padded
  cell(skill: SkillReport, report: Told): Cell
}

/** What the cells of a skill depend on, beside the skill. */
interface Told {
  /** The license of the whole, which rows do not repeat. */
  license: string
  /** Of each skill, by its path. */
  findings: ReadonlyMap<string, readonly Finding[]>
}

const COLUMNS: readonly Column[] = [
  {
    title: t('check.columns.tokens'),
    pad: leftPadded,
    cell: ({ delivery }) => (delivery.kind === 'full' ? [{ text: `~${formatNumber(delivery.tokens)}` }] : []),
  },
  {
    title: t('check.columns.pages'),
    pad: leftPadded,
    cell: ({ delivery }) => (delivery.kind === 'full' && delivery.pages > 1 ? [{ text: formatNumber(delivery.pages) }] : []),
  },
  {
    title: t('check.columns.files'),
    pad: leftPadded,
    cell: ({ delivery }) =>
      delivery.kind === 'full' && delivery.files.length > 0 ? [{ text: formatNumber(delivery.files.length) }] : [],
  },
  { title: t('check.columns.findings'), pad: padded, cell: findingsCell },
]

function findingsCell(skill: SkillReport, told: Told): Cell {
  return foundIn(skill, told).map(({ severity, n }) => ({
    text: `${SIGNS[severity]} ${formatNumber(n)}`,
    style: COLORS[severity],
  }))
}

/** How many findings of each severity a skill has, the worst first. */
function foundIn({ path }: SkillReport, { findings }: Told) {
  const found = findings.get(path) ?? []
  return SEVERITIES.map(severity => ({ severity, n: found.filter(finding => finding.severity === severity).length })).filter(
    ({ n }) => n > 0,
  )
}

/** What differs from what one expects: most skills have nothing here. */
function remarksCell(skill: SkillReport, { license }: Told): Cell {
  const { delivery, listed, path, name } = skill
  const own = licenseName(skill.license)
  const remarks = [
    ...(delivery.kind === 'described' ? [t('check.describedOnly')] : []),
    ...(delivery.kind === 'full' && !delivery.complete ? [t('check.lacking')] : []),
    ...(listed ? [] : [t('check.unlisted')]),
    ...(isNamedAsFolder(path, name) ? [] : [t('check.named', { name: printable(name) })]),
    ...(own === license ? [] : [own]),
  ]
  return remarks.length === 0 ? [] : [{ text: remarks.join(', ') }]
}

/** One line for each skill: its folder, which ends with its name, then what agents receive of it, in columns. */
export function skillLines({ skills, license, findings }: Checked, options: ListOptions): string[] {
  if (skills.length === 0) return []
  const told = { license: licenseName(license), findings: bySkill(findings) }
  const sorted = [...skills].sort((left, right) => urgency(left) - urgency(right))
  const shown = options.all ? sorted : sorted.slice(0, SHOWN.skill)
  const title = t('counts.skill', { n: skills.length })
  const { head, rows } = tableOf(shown, title, told, options)
  const lines = shown.flatMap((skill, index) => [...(rows[index] ?? []), ...(options.verbose ? detailLines(skill, options) : [])])
  return [options.paint('bold', title) + options.paint('dim', head), ...lines, ...more(skills.length - shown.length, options)]
}

function bySkill(findings: readonly Finding[]): Map<string, Finding[]> {
  return Map.groupBy(findings, ({ skill, path }) => skill ?? path)
}

/** Columns of a folder below which a table would be mostly empty. */
const LEAST_FOLDER = 16
const GAP = '  '

/** The titles of the columns, and the lines of each skill. A folder that is too long for its column stands on a line of its own. */
function tableOf(skills: readonly SkillReport[], title: string, told: Told, options: ListOptions) {
  const { width, paint } = options
  const cells = skills.map(skill => COLUMNS.map(column => column.cell(skill, told)))
  const used = COLUMNS.flatMap((column, at) => {
    const widest = Math.max(...cells.map(row => cellWidth(row[at] ?? [])))
    return widest === 0 ? [] : [{ ...column, at, width: Math.max(widest, widthOf(column.title)) }]
  })
  const folders = skills.map(({ path }) => widthOf(folderOf(path)))
  const room = width - used.reduce((sum, column) => sum + GAP.length + column.width, GAP.length)
  const isNarrow = room < LEAST_FOLDER && room < Math.max(...folders)
  const folderWidth = Math.max(widthOf(title) - GAP.length, ...folders.filter(length => length <= room))
  if (isNarrow) return { head: '', rows: skills.map(skill => [folderCell(skill, options), ...wordedFacts(skill, told, options)]) }

  const titles = used.map(column => GAP + column.pad(column.title, column.width)).join('')
  const rows = skills.map((skill, index) => {
    const facts = used.map(({ at, pad, width }) => GAP + paddedCell(cells[index]?.[at] ?? [], width, pad, paint)).join('')
    const left = folderWidth - (folders[index] ?? 0)
    const first = folderCell(skill, options)
    const lines = left >= 0 ? [first + ' '.repeat(left) + facts] : [first, `${GAP}${' '.repeat(folderWidth)}${facts}`]
    return withRemarks(lines, remarksCell(skill, told), options).filter(line => line.trim() !== '')
  })
  return { head: `${' '.repeat(GAP.length + folderWidth - widthOf(title))}${titles}`.trimEnd(), rows }

  /** Behind the columns, or on lines of their own where they do not fit: one long remark costs the other skills no room. */
  function withRemarks(lines: string[], remarks: Cell, options: ListOptions): string[] {
    const columns = GAP.length + folderWidth + used.reduce((sum, column) => sum + GAP.length + column.width, 0)
    if (remarks.length === 0) return lines.map(line => line.trimEnd())
    if (columns + GAP.length + cellWidth(remarks) > width)
      return [...lines.map(line => line.trimEnd()), ...fold(remarks, { ...options, indent: 6 })]
    return [...lines.slice(0, -1), `${lines.at(-1) ?? ''}${GAP}${paddedCell(remarks, 0, padded, paint)}`]
  }
}

function cellWidth(cell: Cell): number {
  return widthOf(cell.map(span => span.text).join(' '))
}

function paddedCell(cell: Cell, width: number, pad: typeof padded, paint: Paint): string {
  const shown = cell.map(span => painted(span, paint)).join(' ')
  const blank = ' '.repeat(Math.max(0, width - cellWidth(cell)))
  return pad === leftPadded ? blank + shown : shown + blank
}

function folderOf(skillPath: string): string {
  const end = skillPath.lastIndexOf('/')
  return end < 0 ? '.' : printable(skillPath.slice(0, end))
}

function folderCell({ path }: SkillReport, { paint, linkTo }: ListOptions): string {
  const folder = folderOf(path)
  const name = folder.lastIndexOf('/') + 1
  const link = linkTo(path)
  const text = folder.slice(0, name) + paint('bold', folder.slice(name))
  return GAP + painted({ text, ...(link !== null && { link }) }, paint)
}

function isNamedAsFolder(skillPath: string, name: string): boolean {
  return skillPath.split('/').at(-2) === name
}

/** The row of a skill where a terminal is too narrow for columns. */
function wordedFacts(skill: SkillReport, told: Told, options: ListOptions): string[] {
  const { delivery } = skill
  const sizes =
    delivery.kind === 'described'
      ? []
      : [
          t('check.tokens', { tokens: formatNumber(delivery.tokens) }),
          ...(delivery.pages > 1 ? [t('counts.page', { n: delivery.pages })] : []),
          ...(delivery.files.length > 0 ? [t('counts.file', { n: delivery.files.length })] : []),
        ]
  const found = foundIn(skill, told).map(({ severity, n }) => ({
    text: t(`counts.${NOUNS[severity]}`, { n }),
    style: COLORS[severity],
  }))
  const facts: Span[] = [...sizes.map(text => ({ text })), ...found, ...remarksCell(skill, told)]
  const spans = facts.flatMap((fact, index) => (index === 0 ? [fact] : [{ text: '·' }, fact]))
  return facts.length === 0 ? [] : fold(spans, { ...options, indent: 6 })
}

/** Skills that agents do not receive as they are stand first. */
function urgency({ delivery }: SkillReport): number {
  return delivery.kind === 'described' ? 1 : delivery.complete ? 2 : 0
}

function detailLines(skill: SkillReport, options: ListOptions): string[] {
  return detailsOf(skill, options).flatMap(text => fold([{ text, style: 'dim' }], { ...options, indent: 6 }))
}

/** What is printed of a skill beside its row. */
function detailsOf(skill: SkillReport, { all }: ListOptions): string[] {
  const { delivery, path, listed, warnings, license } = skill
  const internal = listed ? [] : [t('check.internal')]
  if (delivery.kind === 'described') return [...internal, printable(delivery.reason)]
  const { rules, includes, files, references, outside, oversized, notInstallable, characters, bytes } = delivery
  const size = { characters: formatNumber(characters), bytes: formatNumber(bytes), license: licenseOf(license, path) }
  const read = [...rules.map(piece => printable(piece.path)), t('check.body'), ...includes.map(piece => printable(piece.path))]
  const counted = (paths: readonly unknown[], noun: 'reference' | 'referenceOutside' | 'file' | 'fileTooLarge') =>
    paths.length === 0 ? [] : [t(`counts.${noun}`, { n: paths.length })]
  const besides = [
    ...counted(files, 'file').map(count => t('check.listed', { count, names: namesOf(files, path, all) })),
    ...counted(references, 'reference'),
    ...counted(outside, 'referenceOutside'),
    ...counted(oversized, 'fileTooLarge'),
  ]
  return [
    t('check.size', size),
    ...internal,
    ...(delivery.complete ? [] : [t('check.incomplete')]),
    ...(notInstallable === null ? [] : [t('check.notInstallable', { reason: printable(notInstallable) })]),
    ...(read.length > 1 ? [t('check.reads', { texts: read.join(' → ') })] : []),
    ...(besides.length > 0 ? [besides.join('; ')] : []),
    ...(warnings.length >= WARNINGS_PER_SKILL ? [t('check.firstWarnings', { n: WARNINGS_PER_SKILL })] : []),
  ]
}

/** Supporting files, relative to the folder of their skill. */
function namesOf(files: readonly string[], skillPath: string, all: boolean): string {
  const prefix = skillPath.slice(0, skillPath.lastIndexOf('/') + 1)
  const shown = (all ? files : files.slice(0, SHOWN.path)).map(path =>
    printable(path.startsWith(prefix) ? path.slice(prefix.length) : path),
  )
  const names = shown.join(', ')
  return files.length > shown.length ? t('check.andMore', { names, n: files.length - shown.length }) : names
}

export function licenseName({ kind, name }: License): string {
  return kind === 'none' ? t('check.licenses.none') : printable(name ?? t(`check.licenses.${kind}`))
}

/** The license, and where it is declared. @param own path of the file whose license it is */
export function licenseOf(license: License, own?: string): string {
  const name = licenseName(license)
  if (license.source === null) return name
  if (license.source === own) return t('check.byFrontMatter', { license: name })
  return t('check.byFile', { license: name, file: printable(license.source) })
}

/** The line below a list that was cut. */
export function more(count: number, { paint }: Pick<ListOptions, 'paint'>, indent = 2): string[] {
  return count === 0 ? [] : [' '.repeat(indent) + paint('dim', t('check.more', { n: formatNumber(count) }))]
}
