import type { Finding } from '#indexer/check/schema.ts'

/** The result of a run of the Action. */
export interface Outcome {
  /** Canonical address of the commit; `null`: the files that are checked out were read. */
  address: string | null
  commit: string | null
  /** The page of the address; `null` without a deployment. */
  page: string | null
  skills: number
  documents: number
  /** A limit was reached: part of the repository is not indexed. */
  isPartial: boolean
  diagnostics: readonly Reported[]
}

/** A diagnostic of a deployment, or a finding of a check, which also knows lines and says what to do. */
export type Reported = Pick<Finding, 'severity' | 'code' | 'path' | 'line' | 'message' | 'advice'>

/** Outputs of the step, as `action.yml` names them. */
export function outputsOf({ address, commit, page, skills, documents }: Outcome): Record<string, string> {
  return { address: address ?? '', commit: commit ?? '', page: page ?? '', skills: String(skills), documents: String(documents) }
}

export interface Annotation {
  severity: 'error' | 'warning' | 'notice'
  title: string
  message: string
  /** Absent: the repository as a whole. */
  file?: string
  startLine?: number
}

/** GitHub shows ten of each severity for a step. */
const ANNOTATIONS = 10

/** The diagnostics of the repository as annotations of the run. */
export function annotationsOf({ diagnostics }: Outcome): Annotation[] {
  return (['error', 'warning', 'info'] as const).flatMap(severity =>
    diagnostics
      .filter(diagnostic => diagnostic.severity === severity)
      .slice(0, ANNOTATIONS)
      .map(({ code, message, advice, path, line }) => ({
        severity: severity === 'info' ? 'notice' : severity,
        title: code,
        message: advice === undefined ? message : `${message}\n${advice}`,
        ...(path === '' ? {} : { file: path }),
        ...(line === undefined ? {} : { startLine: line }),
      })),
  )
}

/** The summary of the workflow run, in Markdown. */
export function summaryOf({ address, commit, page, skills, documents, isPartial, diagnostics }: Outcome): string {
  const lines = [
    '### What agents receive',
    '',
    '| | |',
    '|---|---|',
    ...(address === null ? [] : [`| Address | ${page === null ? code(address) : link(page, address)} |`]),
    ...(commit === null ? [] : [`| Commit | ${code(commit)} |`]),
    `| Skills | ${skills} |`,
    `| Documents | ${documents} |`,
  ]
  if (isPartial) lines.push('', 'A limit was reached: part of the repository is not indexed.')
  if (diagnostics.length > 0) {
    lines.push('', '| Problem | Where | |', '|---|---|---|')
    for (const { code: name, path, line, message } of diagnostics.slice(0, 3 * ANNOTATIONS))
      lines.push(`| ${code(name)} | ${code(line === undefined ? path : `${path}:${line}`)} | ${escapeHtml(message)} |`)
    const more = diagnostics.length - 3 * ANNOTATIONS
    if (more > 0) lines.push('', `And ${more} more.`)
  }
  return `${lines.join('\n')}\n`
}

function link(url: string, text: string): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`
}

export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`
}

/** Escapes HTML and Markdown: paths and messages contain text of the repository. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'|`*_[\]\\~\r\n]/g, character => `&#${character.charCodeAt(0)};`)
}
