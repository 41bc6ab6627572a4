import type { BrowseEntry } from '#core/contract/browse.ts'
import type { FoundItem } from '#core/contract/find.ts'
import type { Diagnostic } from '#core/contract/shared.ts'
import { estimateTokens } from '#core/estimate-tokens.ts'
import { utf8Length } from '#core/text.ts'
import { inOneLine } from './one-line.ts'

/*
 * Lines of listings, for models. Paths stand whole, since the next call needs them; what is said of them is shortened.
 */

/** Of an entry, with its path. */
const LISTED_TOKENS = 100
/** However long the path is, so much is said of it. */
const SAID_TOKENS = 16
const NAME_TOKENS = 24
/** Of a remark of this service about a file. */
export const REMARK_TOKENS = 70
const LISTED_DIAGNOSTICS = 5
/** Files that have the same remark and are named with it. */
const SAME_REMARK_FILES = 3
/** Of paths in remarks, which no call needs. */
const SHOWN_PATH_CHARACTERS = 160

/** A line of at most about 100 tokens, by estimate. */
function listedLine(head: string, about: string, tail = ''): string {
  if (about === '') return head + tail
  const left = LISTED_TOKENS - estimateTokens(head) - estimateTokens(tail) - 1
  return `${head}: ${inOneLine(about, Math.max(SAID_TOKENS, left))}${tail}`
}

/** A line of `browse_repo`. */
export function entryLine(entry: BrowseEntry): string {
  const license = entry.describedOnly ? ', described only' : ''
  if (entry.skill) {
    const { name, path, description } = entry.skill
    const more = entry.kind === 'file' ? `, ${entry.size} bytes` : besides(entry.counts)
    return listedLine(`- skill ${quoted(name)} (${path}${more})${license}`, description)
  }
  if (entry.kind === 'file') return `- ${entry.path} (${entry.size} bytes)${titled(entry.title)}${license}`
  return `- ${entry.path}/ (${contents(entry.counts)})${titled(entry.manifest?.name)}${license}`
}

/** Lines of `search_repo`. */
export function foundLine(item: FoundItem): string {
  const license = item.describedOnly ? ', described only' : ''
  if (item.kind === 'document')
    return listedLine(`- document ${item.path}${license}`, [item.title, item.summary].filter(Boolean).join('. '))
  // One path: `load_skill` lists the others, and paths of a folder repeat each other.
  const [file] = item.files
  const others = item.files.length + item.moreFiles - 1
  const also = file === undefined ? '' : `\n  also in its file ${file.path}${others === 0 ? '' : ` and ${others} more`}`
  const copies = (item.copies?.length ?? 0) + (item.moreCopies ?? 0)
  const same = copies === 0 ? '' : `, ${count(copies, 'identical copy', 'identical copies')} elsewhere`
  return listedLine(`- skill ${quoted(item.name)} (${item.path}${same})${license}`, item.description, also)
}

/** What this service remarks on files, one line for all with the same remark; the gravest first. */
export function diagnosticLines(diagnostics: readonly Diagnostic[]): string[] {
  const remarks = [...Map.groupBy(diagnostics, ({ severity, message }) => `${severity} ${message}`).values()]
  remarks.sort(([left], [right]) => gravity(left) - gravity(right))
  const told = remarks.slice(0, LISTED_DIAGNOSTICS).map(same => {
    const [{ severity, message }] = same as [Diagnostic]
    const named = same.slice(0, SAME_REMARK_FILES).map(({ path }) => (path === '' ? 'the root' : shownPath(path)))
    const rest = same.length - named.length
    return `Note (${severity}) on ${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}: ${inOneLine(message, REMARK_TOKENS)}`
  })
  const rest = remarks.slice(LISTED_DIAGNOSTICS).flat().length
  return rest > 0 ? [...told, `and ${count(rest, 'more note', 'more notes')}.`] : told
}

/** Lists of paths, each with its title. Paths beyond `maxBytes` in all, or beyond 40 of a list, are counted. */
export function pathLists(lists: readonly (readonly [title: string, paths: readonly string[]])[], maxBytes: number): string[] {
  const filled = lists.filter(([, paths]) => paths.length > 0)
  let left = maxBytes
  return filled.map(([title, paths], number) => {
    const line = pathList(title, paths, Math.floor(left / (filled.length - number)))
    left -= utf8Length(line)
    return line
  })
}

const LISTED_PATHS = 40

function pathList(title: string, paths: readonly string[], maxBytes: number): string {
  let bytes = utf8Length(title)
  const fitting = paths.slice(0, LISTED_PATHS).filter(path => {
    bytes += utf8Length(path) + 2
    return bytes <= maxBytes
  })
  const rest = paths.length - fitting.length
  if (rest === 0) return `${title}: ${fitting.join(', ')}`
  const more = `${rest.toLocaleString('en')} ${fitting.length === 0 ? '' : 'more'}`.trim()
  return `${title}: ${[...fitting, `and ${more}, which browse_repo lists`].join(', ').replace(/^and /, '')}`
}

export function quoted(name: string): string {
  return `"${inOneLine(name, NAME_TOKENS)}"`
}

/** A path that no call needs: of a long one, its end. */
export function shownPath(path: string): string {
  const characters = [...path]
  return characters.length <= SHOWN_PATH_CHARACTERS ? path : `…${characters.slice(1 - SHOWN_PATH_CHARACTERS).join('')}`
}

export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`
}

function titled(title: string | undefined): string {
  return title === undefined ? '' : ` ${quoted(title)}`
}

interface Counts {
  skills: number
  documents: number
}

function contents({ skills, documents }: Counts): string {
  const parts = [
    ...(skills === 0 ? [] : [count(skills, 'skill', 'skills')]),
    ...(documents === 0 ? [] : [count(documents, 'document', 'documents')]),
  ]
  return parts.length === 0 ? 'no skills or documents' : parts.join(', ')
}

/** What the folder of a skill has besides the skill. */
function besides({ skills, documents }: Counts): string {
  const others = { skills: Math.max(0, skills - 1), documents }
  return others.skills + others.documents === 0 ? '' : `; below its folder also ${contents(others)}`
}

function gravity(diagnostic: Diagnostic | undefined): number {
  return ['error', 'warning', 'info'].indexOf(diagnostic?.severity ?? 'info')
}
