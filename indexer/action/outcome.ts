import type { Diagnostic } from '#core/contract/shared.ts'

/** What the run of the Action found. */
export interface Outcome {
  /** Canonical address of the commit. */
  address: string
  commit: string
  /** Where people see it; `null` when no deployment is named. */
  page: string | null
  skills: number
  documents: number
  /** Limits were reached: a part of the repository is not indexed. */
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

/** What is wrong with the repository, where its author will see it. */
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

/** What stands on the page of the workflow's run; Markdown. */
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
  if (isPartial) lines.push('', 'Limits were reached: a part of the repository is not indexed.')
  if (diagnostics.length > 0) {
    lines.push('', '| What is wrong | Where | |', '|---|---|---|')
    for (const { code: name, path, message } of diagnostics.slice(0, 3 * ANNOTATIONS))
      lines.push(`| ${code(name)} | ${code(path)} | ${escapeHtml(message)} |`)
    const more = diagnostics.length - 3 * ANNOTATIONS
    if (more > 0) lines.push('', `And ${more} more.`)
  }
  return `${lines.join('\n')}\n`
}

function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`
}

/** Paths and messages hold what somebody wrote into a repository. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"'|`*_[\]\\~\r\n]/g, character => `&#${character.charCodeAt(0)};`)
}
