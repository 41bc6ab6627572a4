import { type Finding, messageOf } from '#words/findings.ts'
import { t, type Value } from '#words/t.ts'
import type { Warning } from './contract/shared.ts'
import { levelOf } from './finding-levels.ts'
import type { WarningRow } from './snapshot/finding-rows.ts'

/*
 * Answers tell a finding in English: its code and its message. Pages say it in their language, from the finding that the message was made of: they ask in
 * the same process, and have the very objects of the answer. JSON leaves the finding out, so no client receives it.
 */

/** One symbol for the whole process: the built pages have a copy of this module. */
const FINDING = Symbol.for('mountglass.finding')
const ANSWERED = new WeakMap<Finding, object>()
const WARNINGS = new WeakMap<Finding, Warning>()

type WithMessage<Row extends Finding> = Omit<Row, 'case' | 'values'> & { message: string }

/** A stored finding as answers and reports have it; the same object for the same finding. */
export function withMessage<Row extends Finding>(row: Row): WithMessage<Row> {
  const known = ANSWERED.get(row) as WithMessage<Row> | undefined
  if (known !== undefined) return known
  const { case: _case, values: _values, ...shown } = row
  const answered = keepFinding({ ...shown, message: messageOf(row) }, row)
  ANSWERED.set(row, answered)
  return answered
}

/** A stored warning of a skill as answers and reports have it. */
export function withLevel(row: WarningRow): Warning {
  const known = WARNINGS.get(row)
  if (known !== undefined) return known
  const { code, ...shown } = withMessage(row)
  const warning = keepFinding({ code, level: levelOf(code), ...shown }, row)
  WARNINGS.set(row, warning)
  return warning
}

/** How a finding about a text that is not sent is told: by its kind alone, unless its message has no values but numbers. */
export function withoutQuotation(told: { code: string; message: string }): { message: string; finding: Finding } {
  const { code } = told
  const finding = findingOf(told) ?? { code }
  const quotes = Object.values(finding.values ?? {}).some((value: Value) => typeof value !== 'number')
  return quotes ? { message: kindOf(code), finding: { code, case: 'described' } } : { message: told.message, finding }
}

/** As messages begin: in lower case. */
function kindOf(code: string): string {
  const kind = t.find(`findingKind.${code}`) ?? code
  return /^[A-Z][a-z]/.test(kind) ? kind.charAt(0).toLowerCase() + kind.slice(1) : kind
}

/** A stored warning of a skill that is only described. */
export function withLevelAlone(row: WarningRow): Warning {
  const { code, level, ...told } = withLevel(row)
  const { message, finding } = withoutQuotation(keepFinding({ code, message: told.message }, row))
  return keepFinding({ code, level, message }, finding)
}

/** Notes the finding, or the case of an error, that a message was made of. A copy of the object lacks it. */
export function keepFinding<What extends object>(answered: What, { code, case: of, values }: Finding): What {
  return Object.defineProperty(answered, FINDING, { value: { code, case: of, values } })
}

/** The finding that a message was made of; `undefined` if another process answered. */
export function findingOf(answered: object): Finding | undefined {
  return (answered as { [FINDING]?: Finding })[FINDING]
}
