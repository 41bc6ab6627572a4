import type { FINDINGS, REASONS } from './en/findings.ts'
import { type Given, type Said, t, type Value, type Values } from './t.ts'

type FindingKey = keyof typeof FINDINGS
type ReasonKey = keyof typeof REASONS
type CodeOf<Key extends string> = Key extends `${infer Code}:${string}` ? Code : Key

/** What was found. Its sentence is that of its code, or of `<code>:<case>` where a code has several. */
export interface Finding {
  code: string
  case?: string | undefined
  values?: Values | undefined
}

/** @param key the code, and a case after a colon */
export function finding<Key extends FindingKey>(
  key: Key,
  ...[values]: Given<(typeof FINDINGS)[Key]>
): Finding & { code: CodeOf<Key> } {
  const [code, of] = key.split(':') as [CodeOf<Key>, string?]
  return { code, ...(of !== undefined && { case: of }), ...(values !== undefined && { values: values as Values }) }
}

/** A sentence within that of a finding. */
export function reason<Key extends ReasonKey>(key: Key, ...[values]: Given<(typeof REASONS)[Key]>): Said {
  return { key: `reason.${key}`, ...(values !== undefined && { values: values as Values }) }
}

/** The key of the sentence in the catalogue. */
export function keyOfFinding({ code, case: of }: Pick<Finding, 'code' | 'case'>): string {
  return of === undefined ? `finding.${code}` : `finding.${code}:${of}`
}

/** The sentence in English. */
export function messageOf(found: Finding): string {
  return t.find(keyOfFinding(found), found.values) ?? found.code
}

/** Whether a value tells lines of a file. */
export function tellsLines(value: Value): boolean {
  return typeof value === 'object' && LINES.has(value.key)
}

const LINES: ReadonlySet<string> = new Set(['reason.line', 'reason.lines', 'reason.moreLines'] satisfies `reason.${ReasonKey}`[])
/** Parts with a line number, which is their value `n`. */
const ON_LINE: ReadonlySet<string> = new Set(['reason.onLine', 'reason.openQuote'] satisfies `reason.${ReasonKey}`[])

/** The first line that a finding names, from 1; `null` when it names none. */
export function lineOf({ code, values = {} }: Finding): number | null {
  if (code === 'front_matter.comment') return Number(values.n)
  for (const value of Object.values(values)) {
    if (typeof value !== 'object') continue
    if (tellsLines(value)) return Number.parseInt(String(value.values?.list ?? value.values?.n), 10)
    const line = ON_LINE.has(value.key) ? Number(value.values?.n) : lineOf({ code: value.key, values: value.values })
    if (line !== null) return line
  }
  return null
}
