import { parse } from 'smol-toml'
import { kindOfExpression } from './kind.ts'

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

type Token = string | 'name' | 'anything'

interface ReusePath {
  matches: (path: string) => boolean
  /** For each character of a path, at most; 0 where nothing stands for other characters. */
  steps: number
}

/**
 * Compiles a `path` of a `REUSE.toml`: `*` matches within a name, `**` anything, and a backslash makes the next character plain. `null` for a
 * path that leads out of the folder, or is none. Matching takes at most path length times `steps`.
 */
function compileReusePath(pattern: string): ReusePath | null {
  if (pattern === '' || pattern.length > PATTERN_CHARACTERS || /^\/|(?:^|\/)\.{1,2}(?:\/|$)/.test(pattern)) return null
  const tokens = (pattern.match(/\*{2,}|\*|\\[\s\S]|[\s\S]/g) ?? []).map(tokenOf)
  const wildcard = tokens.findIndex(token => token.length > 1)
  const prefix = tokens.slice(0, wildcard < 0 ? tokens.length : wildcard).join('')
  if (wildcard < 0) return { matches: path => path === prefix, steps: 0 }
  const rest = tokens.slice(wildcard)
  return { matches: path => path.startsWith(prefix) && matches(rest, path.slice(prefix.length)), steps: rest.length }
}

const PATTERN_CHARACTERS = 256

function tokenOf(text: string): Token {
  if (text === '*') return 'name'
  return text.startsWith('**') ? 'anything' : text.slice(-1)
}

/** Whether the pattern matches the path. After each character it keeps every position of the pattern that is possible. */
function matches(tokens: readonly Token[], path: string): boolean {
  if (tokens.length === 1 && tokens[0] === 'anything') return true
  let reached = new Uint8Array(tokens.length + 1)
  reached[0] = 1
  skipWildcards(tokens, reached)
  for (const character of path.split('')) {
    const next = new Uint8Array(tokens.length + 1)
    for (const [at, token] of tokens.entries()) {
      if (reached[at] !== 1) continue
      if (token === 'anything' || (token === 'name' && character !== '/')) next[at] = 1
      else if (token === character) next[at + 1] = 1
    }
    skipWildcards(tokens, next)
    reached = next
  }
  return reached[tokens.length] === 1
}

/** A wildcard may match nothing. */
function skipWildcards(tokens: readonly Token[], reached: Uint8Array): void {
  for (const [at, token] of tokens.entries()) if (reached[at] === 1 && token.length > 1) reached[at + 1] = 1
}
