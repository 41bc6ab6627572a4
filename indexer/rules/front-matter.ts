import { FAILSAFE_SCHEMA, load, YAMLException } from 'js-yaml'
import type { Translations } from '#core/contract/shared.ts'
import { visibleLine, visibleText } from '#core/hidden-text.ts'
import {
  DESCRIPTION_CHARACTERS,
  FRONT_MATTER_BYTES,
  KEYWORD_CHARACTERS,
  KEYWORDS,
  MANIFEST_NAME_CHARACTERS,
  TRANSLATION_TAGS,
  YAML_DEPTH,
} from '#core/limits.ts'
import { canonicalJson } from '#core/snapshot/canonical-json.ts'
import { truncateCharacters, utf8Length } from '#core/text.ts'
import { REASONS } from '#words/en/findings.ts'
import { reason } from '#words/findings.ts'
import type { Said, Value } from '#words/t.ts'

/** The front matter of a file. `body` is the text after its closing line, without a byte order mark. */
export type FrontMatterBlock =
  | { kind: 'none'; body: string }
  | { kind: 'unterminated'; body: string }
  /** `paddedLine`: of the file, with blanks behind its fence; `null` when neither fence has any. */
  | { kind: 'block'; yaml: string; body: string; paddedLine: number | null }

/**
 * Splits front matter off a text: its first line is `---`, after an optional byte order mark, and its closing line `---` or `...`. Lines end with LF
 * or CRLF. Blanks may follow a fence, since editors leave them there unseen; some tools then see no front matter.
 */
export function splitFrontMatter(text: string): FrontMatterBlock {
  const start = text.startsWith('\uFEFF') ? 1 : 0
  const opening = lineAt(text, start)
  if (!OPENING.test(opening.content)) return { kind: 'none', body: text.slice(start) }
  let number = 2
  for (let at = opening.next; at < text.length; number++) {
    const line = lineAt(text, at)
    if (CLOSING.test(line.content)) {
      const paddedLine = opening.content.length > FENCE ? 1 : line.content.length > FENCE ? number : null
      return { kind: 'block', yaml: text.slice(opening.next, at), body: text.slice(line.next), paddedLine }
    }
    at = line.next
  }
  return { kind: 'unterminated', body: text.slice(start) }
}

const OPENING = /^---[ \t]*$/
const CLOSING = /^(?:---|\.\.\.)[ \t]*$/
const FENCE = '---'.length

/** A YAML value where every scalar is a string. */
export type YamlValue = string | YamlValue[] | YamlMapping
export type YamlMapping = { readonly [key: string]: YamlValue }

export type ParsedYaml = { ok: true; mapping: YamlMapping } | { ok: false; fault: Value }

/**
 * Parses the front matter of a file as a mapping; a blank block is the empty mapping. A fault names the field, where one alone is at fault,
 * and the line of the file. Refuses more than 16 KiB, nesting deeper than 16, aliases, duplicate keys, several documents, and tags.
 */
export function parseYamlMapping(yaml: string): ParsedYaml {
  if (isTooLong(yaml)) return { ok: false, fault: reason('largerThan', { limit: FRONT_MATTER_BYTES }) }
  if (isBlankYaml(yaml)) return { ok: true, mapping: {} }
  try {
    const value = loadYaml(yaml)
    return isMapping(value) ? { ok: true, mapping: value } : { ok: false, fault: reason('noMapping') }
  } catch (error) {
    return { ok: false, fault: faultOf(yaml) ?? faultOfError(error, 0) }
  }
}

/** Parsed in spite of a fault. */
export interface RepairedYaml {
  ok: true
  mapping: YamlMapping
  /** What is wrong. */
  repaired: Value
  /** Lines that could not be read. */
  unread: string
}

/**
 * Parses as `parseYamlMapping`; on failure it quotes single-line values and tries again: first values that begin like plain text
 * (`description: Use when: it rains`), then all values except block scalars (`argument-hint: [a] [b]`). Then each field is read by itself.
 */
export function parseYamlMappingLeniently(yaml: string): ParsedYaml | RepairedYaml {
  const strict = parseYamlMapping(yaml)
  if (strict.ok || isTooLong(yaml)) return strict
  const repaired = strict.fault
  const quoted = parseQuoted(yaml)
  if (quoted !== null) return { ok: true, mapping: quoted, repaired, unread: '' }
  const { mapping, unread } = readFieldByField(yaml)
  return Object.keys(mapping).length === 0 ? strict : { ok: true, mapping, repaired, unread }
}

function parseQuoted(yaml: string): YamlMapping | null {
  for (const pattern of [PLAIN_VALUE, ANY_VALUE]) {
    const mapping = mappingOf(yaml.replace(pattern, quoteValue))
    if (mapping !== null) return mapping
  }
  return null
}

/**
 * Reads each field, from its key at the beginning of a line to the next one, as YAML of its own; a field of text that is none is taken as its
 * lines, joined. So a fault loses the field that has it at most. Of a key that occurs twice, the first value counts, as a reader meets it.
 */
export function readFieldByField(yaml: string): { mapping: YamlMapping; unread: string } {
  const lines = yaml.split(/\r?\n/)
  const starts = [...lines.keys()].filter(index => FIELD.test(lines[index] ?? ''))
  const fields = new Map<string, YamlValue>()
  const unread = lines.slice(0, starts[0])
  for (const [number, start] of starts.entries()) {
    const below = lines.slice(start + 1, starts[number + 1])
    const field = [lines[start] ?? '', ...below.filter(line => CONTINUED.test(line))]
    const stray = below.filter(line => !CONTINUED.test(line))
    const [key, value] = readField(field)
    const before = fields.get(key)
    unread.push(...stray)
    // A line below it that is no field may be the rest of the license, which its author forgot to indent.
    const isCut = key === 'license' && stray.length > 0
    if (isCut || value === null || (before !== undefined && canonicalJson(before) !== canonicalJson(value))) unread.push(...field)
    if (value !== null && before === undefined) fields.set(key, value)
  }
  return { mapping: Object.fromEntries(fields), unread: unread.join('\n') }
}

/** A line that may belong to the field above: blank, indented, an item, a comment, or the end of brackets. */
const CONTINUED = /^(?:\s|$|-(?:\s|$)|[#\]}])/

/** @returns `null` for a value that cannot be read */
function readField(lines: readonly string[]): [key: string, value: YamlValue | null] {
  const key = FIELD.exec(lines[0] ?? '')?.[1] ?? ''
  // YAML allows no tabs there, and most editors show them as blanks.
  const yaml = lines.map(line => line.replace(/^[ \t]+/, indent => indent.replaceAll('\t', '  '))).join('\n')
  const mapping = mappingOf(yaml) ?? parseQuoted(yaml)
  return [key, mapping === null ? textOfLines(lines) : (fieldOf(mapping, key) ?? null)]
}

/** The text of a field whose lines are not YAML: with `: ` in a line that continues it, or with a quote that is not closed. */
function textOfLines([first = '', ...more]: readonly string[]): string | null {
  const begin = first.replace(FIELD, '').trim()
  const isText = begin !== '' && !/^[|>&*!%@`[{]/.test(begin) && more.every(line => /^(?:\s|$)/.test(line))
  if (!isText) return null
  return withoutQuotes([begin, ...more.map(line => line.trim())].filter(line => line !== '').join(' '))
}

/** The line of the file, from 1, on which a field of its front matter begins; `undefined` where it is not written as one. */
export function lineOfField(text: string, field: string): number | undefined {
  const at = new RegExp(`^["']?${field}["']?[ \\t]*:`, 'm').exec(text.slice(0, FRONT_MATTER_BYTES))?.index
  return at === undefined ? undefined : text.slice(0, at).split('\n').length
}

/** Values of one line that YAML ends at ` #`, since a comment begins there: the field and its line in the file. */
export function commentedFields(yaml: string): { field: string; line: number }[] {
  return yaml.split(/\r?\n/).flatMap((content, index) => {
    const [, field, value = ''] = COMMENTED_VALUE.exec(content) ?? []
    return field !== undefined && value !== '' ? [{ field, line: index + 2 }] : []
  })
}

const COMMENTED_VALUE = /^([\w.-]+):[ \t]+([^\s"'|>&*!%@`[\]{},#][^\r\n]*?)[ \t]#/

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
  return `${key}'${withoutQuotes(value.trimEnd()).replaceAll("'", "''")}'`
}

/** Without the quote at the beginning, and the same one at the end: what is within is no YAML. */
function withoutQuotes(text: string): string {
  const [, quote, quoted = ''] = /^(["'])(.*)$/s.exec(text) ?? []
  if (quote === undefined) return text
  return quoted.endsWith(quote) ? quoted.slice(0, -1) : quoted
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
function faultOf(yaml: string): Said | null {
  const lines = yaml.split('\n')
  const starts = [...lines.keys()].filter(index => FIELD.test(lines[index] ?? ''))
  for (const [number, start] of starts.entries()) {
    const field = lines.slice(start, starts[number + 1])
    try {
      loadYaml(field.join('\n'))
    } catch (error) {
      return reason('ofField', { name: FIELD.exec(field[0] ?? '')?.[1] ?? '', why: faultOfError(error, start) })
    }
  }
  return null
}

const FIELD = /^([\w.-]+):(?:\s|$)/
const OPEN_QUOTE = /within a (?:double|single) quoted scalar/

/** @param firstLine number of the parsed text's first line behind the opening line, from 0 */
function faultOfError(error: unknown, firstLine: number): Value {
  if (!(error instanceof YAMLException)) return reason('malformed')
  if (OPEN_QUOTE.test(error.reason)) return reason('openQuote', { n: firstLine + 2 })
  // The mark counts from 0.
  const { mark } = error
  const known = PARSER_REASONS.get(error.reason)
  const said = known === undefined ? error.reason : { key: known }
  return mark === undefined ? said : reason('onLine', { reason: said, n: firstLine + mark.line + 2 })
}

/** The parser has no codes: what it says stands in the catalogue, as it says it. */
const PARSER_REASONS = new Map(Object.entries(REASONS).map(([key, text]) => [text as string, `reason.${key}`]))

/** The `keywords` and `tags` of front matter, one per line. Each is a list, or one string with commas. */
export function keywordsOf(...mappings: readonly YamlMapping[]): string {
  const values = mappings.flatMap(mapping => [fieldOf(mapping, 'keywords'), fieldOf(mapping, 'tags')])
  const words = values.flatMap(value => (typeof value === 'string' ? value.split(/[,，、]/) : Array.isArray(value) ? value : []))
  const keywords = new Set<string>()
  for (const word of words) {
    const keyword = typeof word === 'string' ? truncateCharacters(visibleLine(word), KEYWORD_CHARACTERS) : ''
    if (keyword !== '') keywords.add(keyword)
    if (keywords.size === KEYWORDS) break
  }
  return [...keywords].join('\n')
}

/** Reads names and descriptions by language tag. Other values are dropped and make `valid` false. */
export function readTranslations(declared: YamlValue | undefined): { translations: Translations; valid: boolean } {
  if (declared === undefined) return { translations: {}, valid: true }
  if (!isMapping(declared)) return { translations: {}, valid: false }
  const translations: Translations = {}
  let valid = true
  for (const [declaredTag, value] of Object.entries(declared)) {
    const tag = canonicalLanguage(declaredTag)
    if (tag === null || !isMapping(value) || Object.keys(translations).length >= TRANSLATION_TAGS) {
      valid = false
      continue
    }
    const name = textOf(value, 'name')
    const description = textOf(value, 'description')
    if (name === null && description === null) valid = false
    else {
      translations[tag] = {
        ...(name === null ? {} : { name: truncateCharacters(visibleLine(name), MANIFEST_NAME_CHARACTERS) }),
        ...(description === null ? {} : { description: truncateCharacters(visibleText(description), DESCRIPTION_CHARACTERS) }),
      }
    }
  }
  return { translations, valid }
}

/** The canonical BCP 47 form of a tag: `pt-BR` for `pt-br` and `pt_BR`; `null` when it is not a tag. */
export function canonicalLanguage(tag: string): string | null {
  const dashed = tag.trim().replaceAll('_', '-')
  if (!/^[A-Za-z]{2,3}(?:-|$)/.test(dashed)) return null
  try {
    return Intl.getCanonicalLocales(dashed)[0] ?? null
  } catch {
    return null
  }
}
