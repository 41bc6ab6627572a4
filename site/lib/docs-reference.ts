import { z } from 'zod'
import { COMMON_ERRORS, ENDPOINTS } from '#core/contract/endpoints.ts'

/** A JSON schema, as far as the reference reads it. */
interface Schema {
  $ref?: string
  id?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  default?: unknown
  minimum?: number
  maximum?: number
  maxLength?: number
}

/** The reference of the REST interface as Markdown, from the contract that checks requests and answers. */
export function formatReference(): string {
  const shapes = new Map<string, Schema>()
  const routes = Object.values(ENDPOINTS).map(endpoint => {
    const answer = toSchema(endpoint.answer, 'output', shapes)
    const query = toSchema(endpoint.query, 'input', shapes)
    const own = endpoint.errors.filter(code => !(COMMON_ERRORS as readonly string[]).includes(code))
    return [
      `## ${endpoint.summary}`,
      `\`${endpoint.method} /api/v1${endpoint.path}\``,
      ...fieldTable('Parameter', query),
      `Answers ${typeWords(answer)}.`,
      own.length === 0 ? '' : `Errors: ${own.map(code => `\`${code}\``).join(', ')}.`,
    ].filter(part => part !== '')
  })
  const common = COMMON_ERRORS.map(code => `\`${code}\``).join(', ')
  const listed = [...shapes].sort(([left], [right]) => (left < right ? -1 : 1))
  return [
    '# REST reference',
    'All routes answer JSON below `/api/v1`, to everyone, with `cache-control: no-store`. `GET /api/v1/openapi.json` is the same as an OpenAPI 3.1 document. `{address}`, `{owner}` and `{kind}` are percent-encoded.',
    `Every route may also answer ${common}.`,
    ...routes.flat(),
    '## Shapes',
    ...listed.flatMap(([name, schema]) => [`### ${name}`, ...shapeParts(schema)]),
    '',
  ].join('\n\n')
}

/** The schema of a contract. Shapes with a name are collected. */
function toSchema(contract: z.ZodType, io: 'input' | 'output', shapes: Map<string, Schema>): Schema {
  const { $defs = {}, ...schema } = z.toJSONSchema(contract, { io, unrepresentable: 'any' }) as Schema & {
    $defs?: Record<string, Schema>
  }
  for (const [name, shape] of Object.entries($defs)) shapes.set(name, shape)
  if (schema.id === undefined) return schema
  shapes.set(schema.id, schema)
  return { $ref: `#/$defs/${schema.id}` }
}

function shapeParts(schema: Schema): string[] {
  const about = schema.description === undefined ? [] : [schema.description]
  const options = schema.anyOf ?? schema.oneOf
  if (options) return [...about, `One of ${options.map(typeWords).join(', ')}.`]
  const table = fieldTable('Field', schema)
  return [...about, ...(table.length > 0 ? table : [`A ${typeWords(schema)}.`])]
}

function fieldTable(kind: string, { properties = {}, required = [] }: Schema): string[] {
  const rows = Object.entries(properties).map(([name, field]) => {
    const presence = required.includes(name) ? '' : field.default === undefined ? 'optional' : `default ${String(field.default)}`
    const about = [presence, field.description ?? ''].filter(Boolean).join('. ')
    return `| \`${name}\` | ${typeWords(field)} | ${about.replaceAll('|', '\\|').replaceAll('\n', ' ')} |`
  })
  return rows.length === 0 ? [] : [[`| ${kind} | Type | Meaning |`, '|---|---|---|', ...rows].join('\n')]
}

/** A type in words, with links to shapes. */
function typeWords(schema: Schema): string {
  const name = schema.$ref?.replace(/^.*\//, '')
  if (name !== undefined) return `[${name}](#${name.toLowerCase()})`
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map(value => `\`${JSON.stringify(value)}\``).join(' or ')
  const options = schema.anyOf ?? schema.oneOf
  if (options) return options.map(typeWords).join(' or ')
  if (schema.type === 'array') return `list of ${typeWords(schema.items ?? {})}`
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return `map of ${typeWords(schema.additionalProperties)}`
  return schema.type ?? 'any'
}
