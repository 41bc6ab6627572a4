import { FINDINGS, REASONS } from './en/findings.ts'
import { fill } from './fill.ts'
import { readBack } from './read-back.ts'

/** The sentences about findings in one language. */
export interface FindingWords {
  findings: typeof FINDINGS
  reasons: typeof REASONS
}

type Values = Readonly<Record<string, string | number>>

/** The message of a finding, in English. Its code is the key up to a colon. */
export function say(key: keyof typeof FINDINGS, values: Values = {}): string {
  return fill(FINDINGS[key], values)
}

/** A part of a message, in English. */
export function why(key: keyof typeof REASONS, values: Values = {}): string {
  return fill(REASONS[key], values)
}

/** The values of an English message; `null` when no sentence of its code fits. */
export function valuesOf(code: string, message: string): Record<string, string> | null {
  for (const key of KEYS.get(code) ?? []) {
    const values = readBack(FINDINGS[key], message)
    if (values !== null) return values
  }
  return null
}

/**
 * The message of a finding in another language. Its values are read back from the English message, which is what snapshots and answers hold. A
 * message that no sentence of its code fits, such as one of an older version, stays as it is.
 *
 * @param message may begin with the path of an included file, where the finding is about hidden text
 */
export function sayIn(code: string, message: string, { findings, reasons }: FindingWords): string {
  if (findings === FINDINGS) return message
  const about = code.startsWith('text.') ? (/^.+: (?=hidden characters \(|HTML comments,)/.exec(message)?.[0] ?? '') : ''
  const rest = message.slice(about.length)
  for (const key of KEYS.get(code) ?? []) {
    const values = readBack(FINDINGS[key], rest)
    if (values !== null) return about + fill(findings[key], translateParts(values, reasons))
  }
  return message
}

const KEYS = Map.groupBy(Object.keys(FINDINGS) as (keyof typeof FINDINGS)[], key => key.split(':', 1)[0] ?? '')
const REASON_KEYS = Object.keys(REASONS) as (keyof typeof REASONS)[]
/** Values that are sentences of `REASONS`. */
const PARTS = ['why', 'reason', 'lines', 'characters']

function translateParts(values: Record<string, string>, reasons: typeof REASONS): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, PARTS.includes(name) ? reasonIn(value, reasons) : value]),
  )
}

function reasonIn(reason: string, reasons: typeof REASONS): string {
  for (const key of REASON_KEYS) {
    const values = readBack(REASONS[key], reason)
    if (values !== null) return fill(reasons[key], translateParts(values, reasons))
  }
  return reason
}
