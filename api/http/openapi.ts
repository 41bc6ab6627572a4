import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { fastifyZodOpenApiPlugin, fastifyZodOpenApiTransformers } from 'fastify-zod-openapi'
import { ANY_ADDRESS } from './raw-target.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Describes the routes that are registered after it. */
export async function registerOpenApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  await app.register(fastifyZodOpenApiPlugin)
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Mountglass',
        version: '1',
        description: 'What an agent receives from an address that points into a git repository.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
    },
    ...fastifyZodOpenApiTransformers,
  })
}

/** The published description. It is made at the first call and kept. */
export function createDescription(app: FastifyInstance): () => string {
  let text: string | undefined
  return () => {
    text ??= JSON.stringify(publishDocument(app.swagger() as unknown as { [key: string]: Json }))
    return text
  }
}

/** What the generator cannot know: routes take a raw address where they are declared with `~`, and answers may grow by fields. */
function publishDocument(document: { [key: string]: Json }): Json {
  const { paths, ...rest } = withoutClosedObjects(document) as { paths: Record<string, Record<string, { parameters?: Json[] }>> }
  const published = Object.entries(paths).map(([path, item]) => {
    if (!path.endsWith(`/${ANY_ADDRESS}`)) return [path, item]
    for (const operation of Object.values(item)) operation.parameters = [ADDRESS, ...(operation.parameters ?? [])]
    return [`${path.slice(0, -ANY_ADDRESS.length)}{address}`, item]
  })
  return { ...rest, paths: Object.fromEntries(published) }
}

const ADDRESS: Json = {
  name: 'address',
  in: 'path',
  required: true,
  description:
    'An address, its slashes as they are: `<host>/<owner>/<repository>[@<ref>][/<path>]`. Every segment is percent-encoded once; `/` inside a ref is `%2F`.',
  schema: { type: 'string' },
  example: 'local/mountglass/handbook',
}

function withoutClosedObjects(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutClosedObjects)
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([key, inner]) => !(key === 'additionalProperties' && inner === false))
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutClosedObjects(inner)]))
}
