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

/** Of a `SKILL.md`, whose front matter is read as if its values were in quotes where that makes it YAML: other tools are no stricter. */
export function splitSkill(file: string): ReturnType<typeof splitParts> {
  const parts = splitParts(file)
  if (parts.fence !== 'closed' || parts.fields !== null) return parts
  const front = file.slice(0, file.length - parts.body.length).replaceAll('\r', '')
  const yaml = front.split('\n').slice(1, -2)
  for (const beginsValue of [/[^\s"'|>&*!%@`[\]{},#?-]|-\S/, /[^\s|>]/]) {
    const quoted = yaml.map(line => {
      const [, key = '', value = ''] = /^([ \t]*(?:- )?[\w.-]+:[ \t]+)(.*)$/.exec(line) ?? []
      return value.search(beginsValue) === 0 ? `${key}'${value.trimEnd().replaceAll("'", "''")}'` : line
    })
    const fields = parseFields(quoted.join('\n'))
    if (fields !== null) return { ...parts, fields }
  }
  return parts
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
