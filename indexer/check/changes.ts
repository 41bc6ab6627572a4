import { findingOf } from '#core/finding-messages.ts'
import type { DiagnosticRow } from '#core/snapshot/finding-rows.ts'
import { tellsLines } from '#words/findings.ts'
import type { Values } from '#words/t.ts'
import type { Checked, CheckReport, Finding } from './schema.ts'

/** The report, with what changed since an earlier one. A finding is the same where only its line or a number that it counts differs. */
export function withChanges(earlier: CheckReport | null, report: CheckReport): CheckReport {
  if (earlier?.status !== 'checked' || report.status !== 'checked') return report
  return { ...report, changes: { mended: missingIn(report, earlier), added: missingIn(earlier, report) } }
}

/** The findings of `report` that `other` lacks. */
function missingIn(other: Checked, report: Checked): Finding[] {
  const keyOfTold = (finding: Finding) => keyOf({ ...finding, ...findingOf(finding) })
  const known = new Set(other.findings.map(keyOfTold))
  return report.findings.filter(finding => !known.has(keyOfTold(finding)))
}

/** Equal for the same finding in two states of a folder. */
export function keyOf({
  code,
  path,
  field,
  case: of,
  values,
}: Pick<DiagnosticRow, 'code' | 'path' | 'field' | 'case' | 'values'>): string {
  return JSON.stringify([code, path, field, of, values && withoutNumbers(values)])
}

function withoutNumbers(values: Values): unknown[] {
  return Object.entries(values).map(([name, value]) => {
    if (typeof value === 'number' || tellsLines(value)) return name
    return [name, typeof value === 'object' ? [value.key, withoutNumbers(value.values ?? {})] : value]
  })
}
