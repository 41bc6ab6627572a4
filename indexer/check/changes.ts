import type { Checked, CheckReport, Finding } from './schema.ts'

/** The report, with what changed since an earlier one. A finding is the same where only its line or a number that it counts differs. */
export function withChanges(earlier: CheckReport | null, report: CheckReport): CheckReport {
  if (earlier?.status !== 'checked' || report.status !== 'checked') return report
  return { ...report, changes: { mended: missingIn(report, earlier), added: missingIn(earlier, report) } }
}

/** The findings of `report` that `other` lacks. */
function missingIn(other: Checked, report: Checked): Finding[] {
  const known = new Set(other.findings.map(keyOf))
  return report.findings.filter(finding => !known.has(keyOf(finding)))
}

/** Equal for the same finding in two states of a folder. */
export function keyOf({ code, path, field, message }: Pick<Finding, 'code' | 'path' | 'field' | 'message'>): string {
  return JSON.stringify([code, path, field, message.replace(/ on lines? \d.*/, '').replace(COUNT, '#')])
}

/** A number that is a word of its own: not a part of a name, a path or a version. */
const COUNT = /(?<!\S)\d+(?!\S)/g
