import { FAILSAFE_SCHEMA, load } from 'js-yaml'
import { FRONT_MATTER_BYTES, YAML_DEPTH } from '#core/limits.ts'
import { utf8Length } from '#core/text.ts'

/** Where the front matter of a file lies. `body` is everything behind it, byte order mark and line ends of the fences removed. */
export type FrontMatterBlock =
  | { kind: 'none'; body: string }
  | { kind: 'unterminated'; body: string }
  | { kind: 'block'; yaml: string; body: string }

/**
 * Finds the front matter: the first line is exactly `---` (a byte order mark before it is allowed), the closing line `---` or `...`.
 * CRLF counts as a line end.
 */
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
 * Parses a block of YAML that has to be a mapping; a blank block is the empty mapping.
 * Refused: more than 16 KiB, deeper than 16, aliases, duplicate keys, several documents, tags.
 */
export function parseYamlMapping(yaml: string): ParsedYaml {
  if (isTooLong(yaml)) return { ok: false, message: `more than ${FRONT_MATTER_BYTES} bytes` }
  if (isBlankYaml(yaml)) return { ok: true, mapping: {} }
  try {
    const value: unknown = load(yaml, { schema: FAILSAFE_SCHEMA, maxDepth: YAML_DEPTH, maxAliases: 0 })
    return isMapping(value) ? { ok: true, mapping: value } : { ok: false, message: 'not a mapping of keys to values' }
  } catch (error) {
    return { ok: false, message: messageOf(error) }
  }
}

/**
 * The same, with a second and third try on text as people write it: single-line values are put in quotes, first the plain ones
 * (`description: Use when: it rains`), then bracketed ones too (`argument-hint: [a] [b]`).
 */
export function parseYamlMappingLeniently(yaml: string): ParsedYaml & { repaired?: true } {
  const strict = parseYamlMapping(yaml)
  if (strict.ok || isTooLong(yaml)) return strict
  for (const pattern of [PLAIN_VALUE, ANY_VALUE]) {
    const repaired = parseYamlMapping(yaml.replace(pattern, quoteValue))
    if (repaired.ok) return { ...repaired, repaired: true }
  }
  return strict
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

/** The value of a key as text; `null` when it is absent or no scalar. */
export function textOf(mapping: YamlMapping, key: string): string | null {
  const value = fieldOf(mapping, key)
  return typeof value === 'string' ? value : null
}

/** The value of a mapping's own key. */
export function fieldOf(mapping: YamlMapping, key: string): YamlValue | undefined {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined
}

/** Words of a list, or of one string split on white space; `null` when it is neither. */
export function wordsOf(value: YamlValue | undefined): string[] | null {
  if (value === undefined) return []
  if (typeof value === 'string') return value.split(/\s+/).filter(word => word !== '')
  return Array.isArray(value) && value.every(item => typeof item === 'string') ? value : null
}

/** How authors write yes, as Claude Code reads it. */
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

function messageOf(error: unknown): string {
  if (error instanceof Error && 'reason' in error && typeof error.reason === 'string') return error.reason
  return 'malformed'
}
