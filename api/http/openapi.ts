import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { fastifyZodOpenApiPlugin, fastifyZodOpenApiTransformers } from 'fastify-zod-openapi'
import { z } from 'zod'
import { ENDPOINTS, type EndpointName, type EndpointSubject } from '#core/contract/endpoints.ts'
import { LEGAL_KINDS } from '#core/contract/legal.ts'
import { ADDRESS_BYTES } from '#core/limits.ts'
import { codesByStatus } from './endpoint.ts'
import { routeOf } from './raw-target.ts'
import { CORS } from './response-headers.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Registers the OpenAPI generator, which describes the routes registered after it. */
export async function registerOpenApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  await app.register(fastifyZodOpenApiPlugin)
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Mountglass',
        version: '1',
        description: [
          'What an agent receives from an address that points into a git repository.',
          'The path parameter `address` consists of several segments. Its slashes stay as they are, so a client must not percent-encode it as one text; it encodes every segment by itself.',
          'Every operation lists the errors of requests that differ from it in method (405), path (404 `request.not_found`) or form (400, 408, 431), too. New fields and codes may be added.',
        ].join('\n\n'),
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
    },
    ...fastifyZodOpenApiTransformers,
  })
}

/** Returns the published description as JSON, memoized at the first call. */
export function createDescription(app: FastifyInstance): () => string {
  let text: string | undefined
  return () => {
    text ??= JSON.stringify(publishDocument(app.swagger() as unknown as { [key: string]: Json }))
    return text
  }
}

interface Operation {
  operationId: string
  parameters?: { name: string; schema: Json }[]
  responses: Record<string, { [key: string]: Json }>
}

/**
 * The endpoints of the contract, with what the generator cannot know: the address that routes declare as `~`, the meaning of a parameter's
 * digits, the status of each code. Pages and other routes are left out.
 */
function publishDocument(document: { [key: string]: Json }): Json {
  const { paths, ...rest } = withoutClosedObjects(document) as unknown as { paths: Record<string, Record<string, Operation>> }
  const published: Record<string, Record<string, Json>> = {}
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (!(operation.operationId in ENDPOINTS)) continue
      const name = publishedPath(path, operation)
      published[name] = { ...published[name], [method]: publishOperation(operation) }
    }
  }
  return { ...rest, paths: published }
}

function publishedPath(path: string, { operationId }: Operation): string {
  const endpoint = ENDPOINTS[operationId as EndpointName]
  return path.replace(routeOf(endpoint), endpoint.path)
}

function publishOperation(operation: Operation): Json {
  const { query, errors, subject } = ENDPOINTS[operation.operationId as EndpointName]
  const meanings = z.toJSONSchema(query, { io: 'output' }).properties as Record<string, { description?: string; $ref?: string }>
  const parameters = (operation.parameters ?? []).map(parameter => {
    const { description: _, $ref: named, ...schema } = meanings[parameter.name] ?? {}
    return { ...parameter, schema: { ...(named && { $ref: named.replace('#/$defs/', '#/components/schemas/') }), ...schema } }
  })
  const codes = codesByStatus(errors)
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    const own = codes.get(Number(status))
    const headers = headersOf(status, subject)
    return [status, { ...response, headers, ...(own && { 'x-error-codes': own }) }]
  })
  const notModified = subject === 'address' ? { 304: { description: NOT_MODIFIED, headers: headersOf('304', subject) } } : {}
  return {
    ...operation,
    parameters: [...PATH_PARAMETERS[subject], ...parameters],
    responses: { ...Object.fromEntries(responses), ...notModified },
  }
}

const NOT_MODIFIED = 'The client has the answer: its `etag` is listed in the header `if-none-match` of the request.'

/** Written out in every response: some generators of clients follow references to schemas only. */
const HEADERS: Record<string, Json> = {
  'x-request-id': {
    description: 'The id of the request, as in the log of the service.',
    schema: { type: 'string', format: 'uuid' },
  },
  'cache-control': { description: 'Answers are not cached.', schema: { type: 'string', const: 'no-store' } },
  'retry-after': {
    description: 'Seconds to wait before a retry: on errors when known, and on 200 while the repository is being indexed.',
    schema: { type: 'integer', minimum: 0 },
  },
  etag: {
    description: 'Changes with every byte of the answer. Absent while the repository is being indexed, and when indexing failed.',
    schema: { type: 'string' },
  },
  'access-control-allow-origin': { description: 'Every origin may read.', schema: { type: 'string', const: CORS.origin } },
}

function headersOf(status: string, subject: EndpointSubject): Json {
  const isAnswer = status === '200' && subject === 'address'
  const isSent: Record<string, boolean> = { 'retry-after': isAnswer || status === '503', etag: isAnswer || status === '304' }
  return Object.fromEntries(Object.entries(HEADERS).filter(([name]) => isSent[name] !== false))
}

/** The longest login of a GitHub account. */
const LOGIN_CHARACTERS = 39

const ADDRESS = {
  name: 'address',
  in: 'path',
  required: true,
  description:
    'An address: `<host>/<owner>/<repository>[@<ref>][/<path>]`. It is inserted with its slashes and its `@` as they are, not encoded as one text. Every segment is percent-encoded once; `/` inside a ref is `%2F`.',
  schema: { type: 'string', minLength: 1, maxLength: ADDRESS_BYTES },
  example: 'local/mountglass/handbook',
}

const OWNER = {
  name: 'owner',
  in: 'path',
  required: true,
  description: 'The login of an account, in any case.',
  schema: { type: 'string', minLength: 1, maxLength: LOGIN_CHARACTERS },
  example: 'octocat',
}

const KIND = {
  name: 'kind',
  in: 'path',
  required: true,
  description: 'Which page.',
  schema: { type: 'string', enum: [...LEGAL_KINDS] },
  example: 'terms',
}

const ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of an item, as its list has it.',
  schema: { type: 'string', pattern: '^[0-9a-f]{24}$' },
  example: '0123456789abcdef01234567',
}

const PATH_PARAMETERS: Record<EndpointSubject, Json[]> = {
  address: [ADDRESS],
  owner: [OWNER],
  kind: [KIND],
  id: [ID],
  none: [],
}

function withoutClosedObjects(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutClosedObjects)
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([key, inner]) => !(key === 'additionalProperties' && inner === false))
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutClosedObjects(inner)]))
}
