import { parse } from 'smol-toml'
import { kindOfExpression } from './kind.ts'
import { compileReusePath } from './reuse-path.ts'

/** A `REUSE.toml` of the REUSE specification 3.3; or why it cannot be read. */
export type ReuseFile = { ok: true; annotations: Annotation[] } | { ok: false; why: ReuseFault }

export type ReuseFault = 'toml' | 'version' | 'annotations' | 'path' | 'expression'

export interface Annotation {
  /** Whether a path, relative to the folder of the file, is annotated. */
  matches: (path: string) => boolean
  /** An SPDX expression; `null` when the annotation names no license. */
  license: string | null
  /** For each character of a path that is compared, at most. */
  steps: number
  /** What counts when a file, or another annotation, says something of the same path. */
  precedence: 'closest' | 'aggregate' | 'override'
}

export function readReuseFile(text: string): ReuseFile {
  if (text.length > REUSE_CHARACTERS) return { ok: false, why: 'annotations' }
  const value = parseToml(text)
  if (value === null) return { ok: false, why: 'toml' }
  if (value.version !== 1) return { ok: false, why: 'version' }
  const tables = value.annotations ?? []
  if (!Array.isArray(tables) || tables.length > ANNOTATIONS) return { ok: false, why: 'annotations' }
  const annotations: Annotation[] = []
  for (const table of tables) {
    const read = readAnnotation(table)
    if (typeof read === 'string') return { ok: false, why: read }
    annotations.push(read)
  }
  if (annotations.reduce((sum, { steps }) => sum + steps, 0) > STEPS) return { ok: false, why: 'annotations' }
  return { ok: true, annotations }
}

const REUSE_CHARACTERS = 64 * 1024
const ANNOTATIONS = 200
const PATHS = 50
/** Every file of the repository is compared with every path. */
const STEPS = 4_096

function parseToml(text: string): Record<string, unknown> | null {
  try {
    return parse(text)
  } catch {
    return null
  }
}

function readAnnotation(table: unknown): Annotation | ReuseFault {
  if (typeof table !== 'object' || table === null) return 'annotations'
  const { path, precedence = 'closest', 'SPDX-License-Identifier': declared = [] } = table as Record<string, unknown>
  if (precedence !== 'closest' && precedence !== 'aggregate' && precedence !== 'override') return 'annotations'
  const paths = textsOf(path) ?? []
  if (paths.length === 0 || paths.length > PATHS) return 'path'
  const matchers = paths.map(compileReusePath).filter(matcher => matcher !== null)
  if (matchers.length < paths.length) return 'path'
  const expressions = textsOf(declared)
  if (expressions === null || expressions.some(expression => kindOfExpression(expression) === null)) return 'expression'
  return {
    matches: file => matchers.some(({ matches }) => matches(file)),
    license: joinExpressions(expressions),
    steps: matchers.reduce((sum, { steps }) => sum + steps, 0),
    precedence,
  }
}

/** All of them together; `null` when there is none. */
export function joinExpressions(expressions: readonly string[]): string | null {
  const unique = [...new Set(expressions)]
  return unique.length === 0 ? null : unique.map(one => (unique.length > 1 && / /.test(one) ? `(${one})` : one)).join(' AND ')
}

function textsOf(value: unknown): string[] | null {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) && value.every(one => typeof one === 'string') ? value : null
}
