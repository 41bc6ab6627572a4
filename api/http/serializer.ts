import type { FastifySerializerCompiler } from 'fastify'
import { createSerializerCompiler } from 'fastify-zod-openapi'

const compile = createSerializerCompiler({ stringify: JSON.stringify })

/** Serialises answers by their schema, as JSON. The bytes of a frozen answer are memoized for as long as the answer lives. */
export const serializerCompiler: FastifySerializerCompiler<unknown> = route => {
  const serialize = compile(route as Parameters<typeof compile>[0])
  const kept = new WeakMap<object, Buffer>()
  return answer => {
    if (!Object.isFrozen(answer)) return serialize(answer)
    const bytes = kept.get(answer) ?? Buffer.from(serialize(answer))
    kept.set(answer, bytes)
    // Fastify sends bytes as well as text; its types only know text.
    return bytes as unknown as string
  }
}
