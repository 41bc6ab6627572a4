import { FAILSAFE_SCHEMA, load, YAMLException } from 'js-yaml'
import { FRONT_MATTER_BYTES, YAML_DEPTH } from '#core/limits.ts'
import { utf8Length } from '#core/text.ts'
import { why } from '#core/words/findings.ts'

/** The front matter of a file. `body` is the text after its closing line, without a byte order mark. */
export type FrontMatterBlock =
  | { kind: 'none'; body: string }
  | { kind: 'unterminated'; body: string }
  | { kind: 'block'; yaml: string; body: string }

/** Splits front matter off a text: its first line is exactly `---`, after an optional byte order mark, and its closing line `---` or `...`. Lines end with LF or CRLF. */
export function splitFrontMatter(text: string): FrontMatterBlock {
  const start = text.startsWith('\uFEFF') ? 1 : 0
  const opening = lineAt(text, start)
  if (opening.content !== '---') return { kind: 'none', body: text.slice(start) }
  for (let at = opening.next; at < text.length; ) {
    const line = lineAt(text, at)
    if (line.content === '---' || line.content === '...') {
      return { kind: 'block', yaml: text.slice(opening.next, at), body: text.slice(line.next) }
    }
    at = line.next
  }
  return { kind: 'unterminated', body: text.slice(start) }
}

/** A YAML value where every scalar is a string. */
export type YamlValue = string | YamlValue[] | YamlMapping
export type YamlMapping = { readonly [key: string]: YamlValue }

export type ParsedYaml = { ok: true; mapping: YamlMapping } | { ok: false; message: string }

/**
 * Parses the front matter of a file as a mapping; a blank block is the empty mapping. A message names the field, where one alone is at fault,
 * and the line of the file. Refuses more than 16 KiB, nesting deeper than 16, aliases, duplicate keys, several documents, and tags.
 */
export function parseYamlMapping(yaml: string): ParsedYaml {
  if (isTooLong(yaml)) return { ok: false, message: why('largerThan', { limit: FRONT_MATTER_BYTES }) }
  if (isBlankYaml(yaml)) return { ok: true, mapping: {} }
  try {
    const value = loadYaml(yaml)
    return isMapping(value) ? { ok: true, mapping: value } : { ok: false, message: why('noMapping') }
  } catch (error) {
    return { ok: false, message: faultOf(yaml) ?? messageOf(error, 0) }
  }
}

/**
 * Parses as `parseYamlMapping`; on failure it quotes single-line values and tries again: first values that begin like plain text
 * (`description: Use when: it rains`), then all values except block scalars (`argument-hint: [a] [b]`). `repaired`: what was wrong.
 */
export function parseYamlMappingLeniently(yaml: string): ParsedYaml & { repaired?: string } {
  const strict = parseYamlMapping(yaml)
  if (strict.ok || isTooLong(yaml)) return strict
  for (const pattern of [PLAIN_VALUE, ANY_VALUE]) {
    const mapping = mappingOf(yaml.replace(pattern, quoteValue))
    if (mapping !== null) return { ok: true, mapping, repaired: strict.message }
  }
  return strict
}

/** The mapping, if the text is one; else `null`: what is wrong is asked of the text as it was alone. */
function mappingOf(yaml: string): YamlMapping | null {
  if (isTooLong(yaml)) return null
  try {
    const value = loadYaml(yaml)
    return isMapping(value) ? value : null
  } catch {
    return null
  }
}

const PLAIN_VALUE = /^([ \t]*(?:- )?[\w.-]+:[ \t]+)([^\s"'|>&*!%@`[\]{},#?-][^\r\n]*|-[^\s][^\r\n]*)$/gm
const ANY_VALUE = /^([ \t]*(?:- )?[\w.-]+:[ \t]+)([^\s|>][^\r\n]*)$/gm

function quoteValue(_line: string, key: string, value: string): string {
  return `${key}'${value.trimEnd().replaceAll("'", "''")}'`
}

function isTooLong(yaml: string): boolean {
  return utf8Length(yaml) > FRONT_MATTER_BYTES
}

function isBlankYaml(yaml: string): boolean {
  return yaml.split(/\r?\n/).every(line => /^\s*(?:#.*)?$/.test(line))
}

export function isMapping(value: unknown): value is YamlMapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a key as text; `null` when it is absent or not a scalar. */
export function textOf(mapping: YamlMapping, key: string): string | null {
  const value = fieldOf(mapping, key)
  return typeof value === 'string' ? value : null
}

/** The value of a mapping's own key. */
export function fieldOf(mapping: YamlMapping, key: string): YamlValue | undefined {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined
}

/** The words of a list, or of a string split at white space; `null` for any other value. */
export function wordsOf(value: YamlValue | undefined): string[] | null {
  if (value === undefined) return []
  if (typeof value === 'string') return value.split(/\s+/).filter(word => word !== '')
  return Array.isArray(value) && value.every(item => typeof item === 'string') ? value : null
}

/** Whether a value means yes, as Claude Code reads it. */
export function isYes(value: YamlValue | undefined): boolean {
  return typeof value === 'string' && /^(?:true|yes|on|1)$/i.test(value)
}

function lineAt(text: string, start: number): { content: string; next: number } {
  const newline = text.indexOf('\n', start)
  const end = newline < 0 ? text.length : newline
  return {
    content: text.slice(start, end > start && text[end - 1] === '\r' ? end - 1 : end),
    next: newline < 0 ? text.length : newline + 1,
  }
}

/** Its errors have no stack, because recording one takes longer than parsing most front matter. @throws YAMLException */
function loadYaml(yaml: string): unknown {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return load(yaml, { schema: FAILSAFE_SCHEMA, maxDepth: YAML_DEPTH, maxAliases: 0 })
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * What is wrong with the first field that is no YAML by itself; `null` when each of them is. The parser notices a quote that is not closed
 * only lines later, in a field that is right.
 */
function faultOf(yaml: string): string | null {
  const lines = yaml.split('\n')
  const starts = [...lines.keys()].filter(index => FIELD.test(lines[index] ?? ''))
  for (const [number, start] of starts.entries()) {
    const field = lines.slice(start, starts[number + 1])
    try {
      loadYaml(field.join('\n'))
    } catch (error) {
      return why('ofField', { name: FIELD.exec(field[0] ?? '')?.[1] ?? '', why: messageOf(error, start) })
    }
  }
  return null
}

const FIELD = /^([\w.-]+):(?:\s|$)/
const OPEN_QUOTE = /within a (?:double|single) quoted scalar/

/** @param firstLine number of the parsed text's first line behind the opening line, from 0 */
function messageOf(error: unknown, firstLine: number): string {
  if (!(error instanceof YAMLException)) return why('malformed')
  if (OPEN_QUOTE.test(error.reason)) return why('openQuote', { n: firstLine + 2 })
  // The mark counts from 0.
  const { mark, reason } = error
  return mark === undefined ? reason : why('onLine', { reason, n: firstLine + mark.line + 2 })
}
