import type { AnswerOf } from '#core/contract/endpoints.ts'
import type { FindingCounts, ListedFinding } from '#core/contract/findings.ts'
import type { DocumentListing, License, SkillListing } from '#core/contract/shared.ts'
import { FINDING_LEVELS } from '#core/finding-levels.ts'
import { hiddenCharacters, isLogCommand, printable, visibleSource } from '#core/hidden-text.ts'
import { baseNameOf, type RepoPath } from '#core/repo-path.ts'
import { withoutTrailing } from '#core/text.ts'
import { columnWidth, entryLines, fold, leftPadded, type Paint, padded, type Span, widthOf } from '#indexer/check/fold.ts'
import { formatNumber, t } from '#words/t.ts'
import type { IndexedMount } from '../answers.ts'
import type { ReadFolder } from './source.ts'

/* What the commands that read print for people: answers in, lines out. Text of a repository stands in them without control characters. */

export interface Layout {
  /** The address or folder, as the next command names it. */
  typed: string
  /** `null`: an address. */
  folder: ReadFolder | null
  /** The deployment that the next commands ask, too; `null`: they need no option. */
  service: string | null
  /** Columns of the terminal. Paths, URLs and commands are never broken. */
  width: number
  paint: Paint
}

export interface OverviewLayout extends Layout {
  /** Print every list in full. */
  all: boolean
  /** The file that the words name. */
  file: RepoPath | null
  /** The folders right below, where the answer does not list all skills. */
  folders: readonly FolderOfSkills[]
  /** The first ones, or all of them; `null` where they are not known. */
  findings: { counts: FindingCounts; items: readonly ListedFinding[] } | null
}

interface FolderOfSkills {
  path: string
  skills: number
}

/** Lengths of printed lists without `--all`. */
export const SHOWN = { document: 10, finding: 10, skill: 50 } as const
/** As many skills are printed with their whole descriptions, and with the first line of them. More are a line each. */
const DESCRIBED = { whole: 3, inOneLine: 30 } as const

/** What is at an address: its facts, skills, documents and findings, and the commands that read on. */
export function overviewLines(mount: IndexedMount, layout: OverviewLayout): string[] {
  return joined([
    titleBlock(mount, layout),
    factsBlock(mount, layout),
    skillsBlock(mount, layout),
    documentsBlock(mount, layout),
    findingsBlock(layout),
    nextBlock(nextCommands(mount, layout), layout),
  ])
}

function joined(blocks: readonly string[][]): string[] {
  return blocks.filter(block => block.length > 0).flatMap((block, index) => (index === 0 ? block : ['', ...block]))
}

function titleBlock({ repository, path, index }: IndexedMount, { folder, width, paint }: Layout): string[] {
  const { manifest } = index
  const plain =
    folder === null ? `${repository.owner}/${repository.name}` : baseNameOf(folder.path.replaceAll('\\', '/') as RepoPath)
  const own =
    manifest !== undefined && (manifest.path === 'SKILLSET.md' || manifest.path === `${path}/SKILLSET.md`) ? manifest : null
  const description = own?.description || (path === '' ? (repository.description ?? '') : '')
  return [paint('bold', printable(own?.name || plain)), ...folded(description, { width, paint, indent: 0 })]
}

function folded(text: string, options: { width: number; paint: Paint; indent: number }): string[] {
  return text.trim() === '' ? [] : fold([{ text: printable(text) }], options)
}

function factsBlock(mount: IndexedMount, { typed, folder, paint }: Layout): string[] {
  const { license, counts, truncated } = mount.index
  const counted = [t('counts.skill', { n: counts.skills }), t('counts.document', { n: counts.documents })].join(', ')
  const facts: [key: 'address' | 'folder' | 'commit' | 'license' | 'contents', value: string][] = [
    folder === null ? ['address', printable(typed)] : ['folder', printable(folder.path)],
    ['commit', commitOf(mount, folder)],
    ['license', licenseOf(license)],
    ['contents', truncated ? t('reader.partial', { counted }) : counted],
  ]
  const labels = facts.map(([key]) => t(`reader.labels.${key}`))
  const column = columnWidth(labels)
  return facts.map(([, value], index) => `${paint('dim', padded(labels[index] ?? '', column))}  ${value}`)
}

function commitOf({ commit, ref, repository, index }: IndexedMount, folder: ReadFolder | null): string {
  if (folder !== null) {
    if (!folder.isGit) return t('reader.notInGit')
    if (folder.commit === null) return t('reader.nothingCommitted')
    return folder.isClean ? folder.commit : t('reader.uncommitted', { commit: folder.commit })
  }
  const named = ref === commit ? [] : [printable(ref ?? repository.defaultBranch)]
  const dated = [...named, ...(index.committedAt === undefined ? [] : [index.committedAt.slice(0, 10)])]
  return dated.length === 0 ? commit : t('reader.commit', { commit, about: dated.join(', ') })
}

function licenseOf({ kind, name, source }: License): string {
  if (kind === 'none') return t('check.licenses.none')
  const license = printable(name ?? t(`check.licenses.${kind}`))
  return source === null ? license : t('check.byFile', { license, file: printable(source) })
}

function skillsBlock({ index, path }: IndexedMount, layout: OverviewLayout): string[] {
  const { skills, counts, license } = index
  if (skills.length === 0) return []
  const { width, paint, all, folders } = layout
  const shown = all ? skills : skills.slice(0, SHOWN.skill)
  const rows = shown.map(skill => skillCells(skill, license))
  const widths = [0, 1].map(column => columnWidth(rows.map(row => row[column] ?? '')))
  const lines = shown.flatMap((skill, row) => {
    const [place = '', size = '', ...rest] = rows[row] ?? []
    const cells = [leftPadded(size, widths[1] ?? 0), ...rest.filter(cell => cell !== '')]
    const about = descriptionLines(skill.description, shown.length, layout)
    return [`  ${paint('bold', padded(place, widths[0] ?? 0))}  ${cells.join('  ')}`.trimEnd(), ...about]
  })
  const title = paint('bold', t('counts.skill', { n: counts.skills }))
  const more = moreLines(counts.skills - shown.length, skills.length > shown.length, { width, paint, path })
  return [title, ...lines, ...more, ...folderLines(folders)]
}

function folderLines(folders: readonly FolderOfSkills[]): string[] {
  const places = folders.map(({ path }) => `${printable(path)}/`)
  const column = columnWidth(places)
  return folders.map(({ skills }, index) => `      ${padded(places[index] ?? '', column)}  ${t('counts.skill', { n: skills })}`)
}

/** The folder, which is what the commands take; then what the skill takes, and what differs from the other skills. */
function skillCells({ directory, name, tokens, license, warnings, describedOnly }: SkillListing, overall: License): string[] {
  const place = printable(directory === '' ? '.' : directory)
  const isNamed = baseNameOf(directory as RepoPath) === name
  const own =
    license.name === overall.name && license.kind === overall.kind
      ? ''
      : printable(license.name ?? t(`check.licenses.${license.kind}`))
  return [
    place,
    describedOnly ? t('check.describedOnly') : tokens === undefined ? '' : t('check.tokens', { tokens: formatNumber(tokens) }),
    isNamed ? '' : t('check.named', { name: printable(name) }),
    own,
    warnings.length === 0 ? '' : t('counts.warning', { n: warnings.length }),
  ]
}

const INDENT = 6

function descriptionLines(description: string, skills: number, { all, width, paint }: OverviewLayout): string[] {
  if (all || skills <= DESCRIBED.whole)
    return folded(description, { width, paint, indent: INDENT }).map(line => paint('dim', line))
  return skills > DESCRIBED.inOneLine ? [] : firstLine(description, { width, paint })
}

/** A description on one line; none where its first word is wider. */
function firstLine(text: string, { width, paint }: { width: number; paint: Paint }): string[] {
  const line = clipped(printable(text), width - INDENT)
  return line === '' ? [] : [' '.repeat(INDENT) + paint('dim', line)]
}

/** As many whole words as the columns hold, with an ellipsis where there are more; empty where not even the first one fits. */
function clipped(text: string, columns: number): string {
  const width = Math.max(2, columns - 1)
  const [first = '', ...others] = fold([{ text }], { width, indent: 0, paint: (_style, line) => line })
  if (widthOf(first) > width) return ''
  return others.length === 0 ? first : `${withoutTrailing(first, /[\s.,;:–—-]/)}…`
}

/** @param isListed whether `--all` shows them */
function moreLines(
  left: number,
  isListed: boolean,
  { width, paint, path }: { width: number; paint: Paint; path?: string },
): string[] {
  if (left <= 0) return []
  const key = isListed ? 'check.more' : path === undefined ? 'reader.more' : 'reader.moreBelow'
  return fold([{ text: t(key, { n: formatNumber(left) }), style: 'dim' }], { width, paint, indent: 2 })
}

function documentsBlock({ index }: IndexedMount, { width, paint, all }: OverviewLayout): string[] {
  const { documents, counts } = index
  if (documents.length === 0) return []
  const shown = all ? documents : documents.slice(0, SHOWN.document)
  const column = columnWidth(shown.map(({ path }) => printable(path)))
  const lines = shown.map(document => documentLine(document, column, { width, paint }))
  const more = moreLines(counts.documents - shown.length, documents.length > shown.length, { width, paint, path: '' })
  return [paint('bold', t('counts.document', { n: counts.documents })), ...lines, ...more]
}

/** A shorter rest of a line has no room for a title: a word or two of it tell nothing. */
const TITLE_COLUMNS = 24

function documentLine(
  { path, title, describedOnly }: DocumentListing,
  column: number,
  { width, paint }: { width: number; paint: Paint },
): string {
  const place = printable(path)
  const about = describedOnly ? t('check.describedOnly') : printable(title)
  const room = width - 2 - Math.max(column, widthOf(place)) - 2
  const told = room < TITLE_COLUMNS ? '' : clipped(about, room)
  return told === '' ? `  ${place}` : `  ${padded(place, column)}  ${paint('dim', told)}`
}

const SIGNS = { look: ['red', '✗'], breaks: ['yellow', '!'], style: ['cyan', '·'] } as const

function findingsBlock({ width, paint, all, findings }: OverviewLayout): string[] {
  const { counts, items } = findings ?? { counts: { look: 0, breaks: 0, style: 0 }, items: [] }
  const total = counts.look + counts.breaks + counts.style
  if (total === 0) return []
  const shown = all ? items : items.slice(0, SHOWN.finding)
  const entries = shown.map(({ level, path, line, field, message, code }) => {
    const [style, sign] = SIGNS[level]
    const said = `${field === undefined ? '' : `${printable(field)}: `}${printable(message)}`
    return {
      sign: { text: sign, style },
      place: { text: `${printable(path === '' ? '.' : path)}${line === undefined ? '' : `:${line}`}` },
      said: [{ text: said }, { text: `[${code}]`, style: 'dim' as const }],
    }
  })
  const levels = FINDING_LEVELS.filter(level => counts[level] > 0).map(level => t(`reader.levels.${level}`, { n: counts[level] }))
  const title: Span[] = [
    { text: `${t('counts.finding', { n: total })}:`, style: 'bold' },
    { text: levels.join(', '), style: 'dim' },
  ]
  return [
    ...fold(title, { width, paint, indent: 0 }),
    ...entryLines(entries, { width, paint }),
    ...moreLines(total - shown.length, true, { width, paint }),
  ]
}

/** A command to type, and what it is for. */
export interface Command {
  words: readonly string[]
  about: string
}

function nextCommands(mount: IndexedMount, { typed, folder, file }: OverviewLayout): Command[] {
  const { skills, documents, counts } = mount.index
  const path =
    file ??
    skills
      .filter(isDelivered)
      .map(({ directory, path }) => directory || path)
      .find(isTypable) ??
    documents
      .filter(isDelivered)
      .map(({ path }) => path)
      .find(isTypable)
  if (!isTypable(typed) || counts.skills + counts.documents === 0) return []
  return [
    ...(path === undefined ? [] : [{ words: ['read', typed, path], about: t('reader.next.read') }]),
    { words: ['find', typed, t('reader.next.query')], about: t('reader.next.find') },
    folder === null
      ? { words: ['pin', typed], about: t('reader.next.pin') }
      : { words: ['check', typed], about: t('reader.next.check') },
  ]
}

function isDelivered({ describedOnly }: { describedOnly?: boolean | undefined }): boolean {
  return describedOnly !== true
}

/** Whether a shell takes the word as it is printed. Names with hidden characters can only be pasted from elsewhere. */
function isTypable(word: string): boolean {
  return [...hiddenCharacters(word)].length === 0 && !/[\r\n]/.test(word) && !word.startsWith('-') && !isLogCommand(word)
}

function nextBlock(commands: readonly Command[], { service, width, paint }: Layout): string[] {
  if (commands.length === 0) return []
  const options = service === null ? [] : ['--service', service]
  const typed = commands.map(({ words: [name = '', ...words] }) =>
    ['mountglass', name, ...options, ...words].map(quoted).join(' '),
  )
  const column = columnWidth(typed)
  const lines = commands.flatMap(({ about }, index) => {
    const command = typed[index] ?? ''
    const isWide = 2 + Math.max(column, widthOf(command)) + 2 + widthOf(about) > width
    return isWide ? [`  ${command}`] : [`  ${padded(command, column)}  ${paint('dim', about)}`]
  })
  return [paint('bold', t('reader.next.title')), ...lines]
}

/** A word as a shell of POSIX takes it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The results of a search, best first. */
export function findLines(found: Extract<AnswerOf<'find'>, { status: 'ready' }>, layout: Layout): string[] {
  const { items, nextCursor, query } = found
  const { width, paint, typed } = layout
  if (items.length === 0)
    return fold([{ text: t('reader.nothingFound', { query: printable(query) }) }], { width, paint, indent: 0 })
  const lines = items.flatMap(item => {
    const { path, describedOnly } = item
    const place = item.kind === 'skill' ? item.directory || path : path
    const about = item.kind === 'skill' ? item.description : [item.title, item.summary].filter(text => text !== '').join(': ')
    const isNamed = item.kind !== 'skill' || baseNameOf(item.directory as RepoPath) === item.name
    const copies = item.kind === 'skill' ? (item.copies?.length ?? 0) + (item.moreCopies ?? 0) : 0
    const cells = [
      t(`reader.kinds.${item.kind}`),
      ...(isNamed ? [] : [t('check.named', { name: printable((item as { name: string }).name) })]),
      ...(describedOnly ? [t('check.describedOnly')] : []),
      ...(copies === 0 ? [] : [t('counts.copy', { n: copies })]),
    ]
    const files =
      item.kind === 'skill' ? item.files.map(file => `      ${t('reader.foundIn', { path: printable(file.path) })}`) : []
    return [`  ${paint('bold', printable(place))}  ${paint('dim', cells.join(' · '))}`, ...firstLine(about, layout), ...files]
  })
  const [first] = items
  const path = first === undefined ? '' : first.kind === 'skill' ? first.directory || first.path : first.path
  const next = isTypable(typed) && isTypable(path) ? [{ words: ['read', typed, path], about: t('reader.next.read') }] : []
  const more = nextCursor === null ? [] : fold([{ text: t('reader.moreFound'), style: 'dim' }], { width, paint, indent: 2 })
  return joined([[...lines, ...more], nextBlock(next, layout)])
}

/** A text, or the part of it that is on a page. */
export interface TextPart {
  kind: 'rules' | 'skill' | 'include' | 'file'
  path: string
  content: string
  /** Whether the text begins with this part. */
  isStart: boolean
}

export interface TextLayout {
  /** Texts alone, without the lines between them. */
  exact: boolean
  /** Marks control characters, which would reach the terminal. */
  isTerminal: boolean
  paint: Paint
  /** The page that is printed, of `pages`. Default: all. */
  page?: number
  pages?: number
}

/** Texts as an agent receives them. Before each stands a line with its path and what it is. */
export function textLines(parts: readonly TextPart[], { exact, isTerminal, paint, page, pages = 1 }: TextLayout): string {
  const texts = joinParts(parts)
  const written = texts.map(({ kind, path, content, isStart }, index) => {
    const isLast = index === texts.length - 1
    const text = isTerminal ? visibleSource(content) : content
    const ended = text === '' || text.endsWith('\n') || (exact && isLast) ? text : `${text}\n`
    if (exact) return ended
    const about = [
      t(`reader.kinds.${kind}`),
      ...(isStart ? [] : [t('reader.continued')]),
      ...(page === undefined || pages === 1 ? [] : [t('reader.page', { page, pages })]),
    ]
    return `${paint('cyan', t('reader.heading', { path: printable(path), about: about.join(', ') }))}\n${ended}`
  })
  return written.join('')
}

/** Parts of one text that follow each other are one. */
function joinParts(parts: readonly TextPart[]): TextPart[] {
  const texts: TextPart[] = []
  for (const part of parts) {
    const last = texts.at(-1)
    if (last && !part.isStart && last.path === part.path && last.kind === part.kind) last.content += part.content
    else texts.push({ ...part })
  }
  return texts
}
