import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** The part of GitHub's API description that `openapi/cut.mjs` cut out. */
interface Description {
  /** `GET /repos/{owner}/{repo}` to the schema of every status; `null` for an answer that is not JSON. */
  operations: Record<string, Record<string, JsonObject | null>>
  webhooks: Record<string, JsonObject>
  schemas: Record<string, JsonObject>
  examples: Record<string, Json>
}

const description: Description = JSON.parse(readFileSync(new URL('./openapi/github.json', import.meta.url), 'utf8'))

export const OPERATIONS: readonly string[] = Object.keys(description.operations)

/** A copy of an example of the description. */
export function example(name: string): JsonObject {
  const value = description.examples[name]
  if (value === undefined) throw new Error(`the description has no example ${name}`)
  return structuredClone(Array.isArray(value) ? (value[0] as JsonObject) : (value as JsonObject))
}

/**
 * Answers that the real host gives and its description leaves out: refusals of any operation, a redirect on every path below
 * a renamed repository, and blocked repositories (github/rest-api-description#3314). They are held to the basic error.
 */
const UNDESCRIBED = new Set([301, 400, 401, 403, 404, 409, 422, 429, 451])

/** What is wrong with a JSON answer, `null` when it is as described. */
export function faultOfAnswer(operation: string, status: number, body: unknown): string | null {
  const answers = description.operations[operation]
  if (!answers) return `${operation} is not in the description`
  const schema = answers[status] ?? (UNDESCRIBED.has(status) ? { $ref: '#/$defs/basic-error' } : null)
  if (schema === null) return `${operation} is not described to answer ${status} with JSON`
  return faultOf(`${operation} ${status}`, schema, body)
}

/** What is wrong with the payload of a webhook, `null` when it is as described. */
export function faultOfDelivery(event: string, payload: JsonObject): string | null {
  const action = typeof payload.action === 'string' ? `-${payload.action}` : ''
  const name = `${event}${action}`.replaceAll('_', '-')
  const schema = description.webhooks[name]
  return schema === undefined ? `webhook ${name} is not in the description` : faultOf(`webhook ${name}`, schema, payload)
}

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  validateFormats: true,
  formats: { uri: (text: string) => URL.canParse(text), 'date-time': (text: string) => INSTANT.test(text) },
  logger: false,
  // Every process compiles them anew, and checks a few bodies: half of the time is gained by code that is longer.
  code: { optimize: false },
  inlineRefs: false,
})
ajv.addSchema({ $id: 'github', $defs: description.schemas })
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const compiled = new Map<string, ValidateFunction>()

function faultOf(name: string, schema: JsonObject, body: unknown): string | null {
  let validate = compiled.get(name)
  if (!validate) {
    // All schemas that are named lie in one, so each of them is compiled once.
    validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"github#/$defs/')))
    compiled.set(name, validate)
  }
  return validate(body) ? null : `${name}: ${ajv.errorsText(validate.errors, { dataVar: 'body' })}`
}
