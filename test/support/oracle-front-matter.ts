import { FAILSAFE_SCHEMA, load } from 'js-yaml'

/* Front matter as the oracle reads it: without a line of the indexer or of core. */

export type Fields = Record<string, unknown>

/** `fields` is `null` where there is no mapping. */
export function splitParts(file: string): { fence: 'none' | 'open' | 'closed'; fields: Fields | null; body: string } {
  const text = file.replace(/^\uFEFF/, '')
  const lines = text.split('\n')
  const bare = lines.map(line => line.replace(/\r$/, ''))
  if (bare[0] !== '---') return { fence: 'none', fields: null, body: text }
  const end = bare.findIndex((line, index) => index > 0 && (line === '---' || line === '...'))
  if (end < 0) return { fence: 'open', fields: null, body: text }
  return { fence: 'closed', fields: parseFields(bare.slice(1, end).join('\n')), body: lines.slice(end + 1).join('\n') }
}

/**
 * Of a `SKILL.md`, whose front matter is read as if its values were in quotes where that makes it YAML, and else field by field, as is
 * the beginning of one that does not end: other tools are no stricter.
 */
export function splitSkill(file: string): ReturnType<typeof splitParts> {
  const parts = splitParts(file)
  if (parts.fence === 'open') return { ...parts, fields: fieldByField(beginningOf(file)) }
  if (parts.fence !== 'closed' || parts.fields !== null) return parts
  const front = file.slice(0, file.length - parts.body.length).replaceAll('\r', '')
  const yaml = front.split('\n').slice(1, -2)
  return { ...parts, fields: quotedFields(yaml) ?? fieldByField(yaml) }
}

/** Of a block without an end: the lines behind the first up to one that is neither a field nor indented. */
function beginningOf(file: string): string[] {
  const [, ...lines] = file.split(/\r?\n/)
  const end = lines.findIndex(line => !/^(?:[\w.-]+:(?:\s|$)|[ \t]+\S)/.test(line))
  return lines.slice(0, end < 0 ? undefined : end)
}

function quotedFields(yaml: readonly string[]): Fields | null {
  for (const beginsValue of [/[^\s"'|>&*!%@`[\]{},#?-]|-\S/, /[^\s|>]/]) {
    const quoted = yaml.map(line => {
      const [, key = '', value = ''] = /^([ \t]*(?:- )?[\w.-]+:[ \t]+)(.*)$/.exec(line) ?? []
      return value.search(beginsValue) === 0 ? `${key}'${value.trimEnd().replaceAll("'", "''")}'` : line
    })
    const fields = parseFields(quoted.join('\n'))
    if (fields !== null) return fields
  }
  return null
}

/** A field whose lines are no YAML is their text. `null` without any field. */
function fieldByField(yaml: readonly string[]): Fields | null {
  const fields: Fields = {}
  const keyOf = (line = '') => /^([\w.-]+):(?:\s|$)/.exec(line)?.[1]
  for (const [index, first] of yaml.entries()) {
    const key = keyOf(first)
    if (key === undefined || Object.hasOwn(fields, key)) continue
    const end = yaml.findIndex((line, other) => other > index && keyOf(line) !== undefined)
    const below = yaml.slice(index + 1, end < 0 ? undefined : end).filter(line => /^(?:\s|$|-(?:\s|$)|[#\]}])/.test(line))
    const parsed = parseFields([first, ...below].join('\n')) ?? quotedFields([first, ...below])
    const text = [first.slice(key.length + 1), ...below].map(line => line.trim()).filter(line => line !== '')
    fields[key] = parsed === null ? text.join(' ') : parsed[key]
  }
  return Object.keys(fields).length === 0 ? null : fields
}

function parseFields(yaml: string): Fields | null {
  if (yaml.split('\n').every(line => /^\s*(#|$)/.test(line))) return {}
  try {
    const fields = load(yaml, { schema: FAILSAFE_SCHEMA })
    return typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? (fields as Fields) : null
  } catch {
    return null
  }
}

export function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return value.split(/\s+/).filter(word => word !== '')
  return Array.isArray(value) ? value.map(String) : []
}

export function mappingOf(fields: Fields | null, key: string): Fields {
  const value = fields?.[key]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}
