import type { FastifySchemaValidationError } from 'fastify'
import type { RequestValidationError } from 'fastify-zod-openapi'
import type { z } from 'zod'
import { QUERY_STRING_BYTES } from '#core/limits.ts'
import { truncateCharacters } from '#core/text.ts'
import { MALFORMED } from './raw-target.ts'

/** Problems that one message names. */
const NAMED = 3
const NAME_CHARACTERS = 40

/** Says which parameters of a query are wrong, and what each has to be. The message of the schema says the latter. */
export function explainInvalid(problems: readonly FastifySchemaValidationError[], query: unknown): string {
  const given = (query ?? {}) as Record<string, unknown>
  const explained = problems.flatMap(problem => {
    return isOfSchema(problem) ? explainIssue(problem.params.issue, given) : [problem.message ?? 'the request is malformed']
  })
  return inOneMessage(explained)
}

/** Told by its shape: the module of the class loads a validator and an OpenAPI generator, also for a server over stdio, which has neither. */
function isOfSchema(problem: FastifySchemaValidationError): problem is RequestValidationError {
  return 'issue' in problem.params
}

/** The same for the arguments of an MCP tool. */
export function explainArguments(issues: readonly z.core.$ZodIssue[], given: Readonly<Record<string, unknown>>): string {
  return inOneMessage(issues.flatMap(issue => explainIssue(issue, given)))
}

function explainIssue(issue: z.core.$ZodIssue, given: Readonly<Record<string, unknown>>): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map(explainUnknown)
  const name = String(issue.path[0] ?? '')
  const message = issue.code === 'invalid_type' && issue.expected === 'string' ? 'must be a text' : issue.message
  return [`parameter ${name} ${fault(given[name]) ?? message}`]
}

function inOneMessage(explained: readonly string[]): string {
  return [...new Set(explained)].slice(0, NAMED).join('; ')
}

/** The message where the query as a whole is refused. */
export const QUERY_REFUSED = `the query has a malformed percent-escape or exceeds ${QUERY_STRING_BYTES.toLocaleString('en')} bytes; encode it as UTF-8, or shorten it`

function explainUnknown(name: string): string {
  if (name === MALFORMED) return QUERY_REFUSED
  return `parameter ${truncateCharacters(name, NAME_CHARACTERS)} is not known here; remove it`
}

function fault(value: unknown): string | null {
  if (value === undefined) return 'is missing'
  return Array.isArray(value) ? 'is repeated; give it once' : null
}
