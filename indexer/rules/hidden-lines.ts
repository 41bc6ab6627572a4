import { codePointName, hiddenCharacters } from '#core/hidden-text.ts'
import type { RepoPath } from '#core/repo-path.ts'
import type { DiagnosticRow, WarningRow } from '#core/snapshot/finding-rows.ts'
import { finding, reason } from '#words/findings.ts'
import type { Said, Value } from '#words/t.ts'

/** Text that an agent receives and a human reader does not see. It names its lines, counted from 1; the text is served unchanged. */
export type HiddenFinding = ReturnType<typeof finding<'text.hidden_characters' | 'text.html_comment'>>

/** @param comments lines of HTML comments, which a rendered page leaves out */
export function findHidden(text: string, comments: readonly number[]): HiddenFinding[] {
  const findings: HiddenFinding[] = []
  const lines: number[] = []
  const characters = new Set<string>()
  let seen = 0
  let line = 1
  let from = 0
  for (const { index, character } of hiddenCharacters(text)) {
    if (++seen > MAX_CHARACTERS) break
    // `encoding.bom` reports a byte order mark at the beginning.
    if (index === 0 && character === '\uFEFF') continue
    line += countLineBreaks(text, from, index)
    from = index
    if (lines.at(-1) !== line) lines.push(line)
    characters.add(character)
  }
  if (lines.length > 0)
    findings.push(finding('text.hidden_characters', { characters: charactersOf([...characters]), lines: linesOf(lines) }))
  if (comments.length > 0) findings.push(finding('text.html_comment', { lines: linesOf(comments) }))
  return findings
}

/** Findings as warnings of a skill. `path` names an included file. */
export function hiddenWarnings(findings: readonly HiddenFinding[], path: RepoPath | null): WarningRow[] {
  return path === null ? [...findings] : findings.map(found => ({ ...found, case: 'in', values: { path, ...found.values } }))
}

export function hiddenDiagnostics(findings: readonly HiddenFinding[], path: RepoPath): DiagnosticRow[] {
  return findings.map(found => ({ ...found, severity: found.code === 'text.html_comment' ? 'info' : 'warning', path }))
}

export function countLineBreaks(text: string, from: number, to: number): number {
  let count = 0
  // Not `indexOf`, which would search beyond `to`.
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === 10) count++
  return count
}

function linesOf(lines: readonly number[]): Said {
  const [only = 0, second] = lines
  if (second === undefined) return reason('line', { n: only })
  const { list, n } = shorten(lines)
  return n > 0 ? reason('moreLines', { list, n }) : reason('lines', { list })
}

function charactersOf(characters: readonly string[]): Value {
  const { list, n } = shorten(characters.map(codePointName))
  return n > 0 ? reason('moreCharacters', { list, n }) : list
}

/** `n`: how many items are left out. */
function shorten(items: readonly (string | number)[]): { list: string; n: number } {
  return { list: items.slice(0, SHOWN_ITEMS).join(', '), n: Math.max(0, items.length - SHOWN_ITEMS) }
}

const SHOWN_ITEMS = 8
/** Bounds the time for hostile texts: later hidden characters add no lines to the finding. */
const MAX_CHARACTERS = 50_000
