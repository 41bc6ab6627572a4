import type { Diagnostic } from '#core/contract/shared.ts'

/** The result of a run of the Action. */
export interface Outcome {
  /** Canonical address of the commit. */
  address: string
  commit: string
  /** The page of the address; `null` without a deployment. */
  page: string | null
  skills: number
  documents: number
  /** A limit was reached: part of the repository is not indexed. */
  isPartial: boolean
  diagnostics: readonly Diagnostic[]
}

/** Outputs of the step, as `action.yml` names them. */
export function outputsOf({ address, commit, page, skills, documents }: Outcome): Record<string, string> {
  return { address, commit, page: page ?? '', skills: String(skills), documents: String(documents) }
}

export interface Annotation {
  severity: 'error' | 'warning' | 'notice'
  title: string
  message: string
  file: string
}

/** GitHub shows ten of each severity for a step. */
const ANNOTATIONS = 10

/** The diagnostics of the repository as annotations of the run. */
export function annotationsOf({ diagnostics }: Outcome): Annotation[] {
  return (['error', 'warning', 'info'] as const).flatMap(severity =>
    diagnostics
      .filter(diagnostic => diagnostic.severity === severity)
      .slice(0, ANNOTATIONS)
      .map(({ code, message, path }) => ({
        severity: severity === 'info' ? 'notice' : severity,
        title: code,
        message,
        file: path,
      })),
  )
}

/** The summary of the workflow run, in Markdown. */
export function summaryOf({ address, commit, page, skills, documents, isPartial, diagnostics }: Outcome): string {
  const shown = page === null ? code(address) : `<a href="${escapeHtml(page)}">${escapeHtml(address)}</a>`
  const lines = [
    '### What agents receive',
    '',
    '| | |',
    '|---|---|',
    `| Address | ${shown} |`,
    `| Commit | ${code(commit)} |`,
    `| Skills | ${skills} |`,
    `| Documents | ${documents} |`,
  ]
  if (isPartial) lines.push('', 'A limit was reached: part of the repository is not indexed.')
  if (diagnostics.length > 0) {
    lines.push('', '| Problem | Where | |', '|---|---|---|')
    for (const { code: name, path, message } of diagnostics.slice(0, 3 * ANNOTATIONS))
      lines.push(`| ${code(name)} | ${code(path)} | ${escapeHtml(message)} |`)
    const more = diagnostics.length - 3 * ANNOTATIONS
    if (more > 0) lines.push('', `And ${more} more.`)
  }
  return `${lines.join('\n')}\n`
}

export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`
}

/** Escapes HTML and Markdown: paths and messages contain text of the repository. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'|`*_[\]\\~\r\n]/g, character => `&#${character.charCodeAt(0)};`)
}
