import type { FastifySerializerCompiler } from 'fastify'
import { createSerializerCompiler } from 'fastify-zod-openapi'

const compile = createSerializerCompiler({ stringify: JSON.stringify })

/**
 * Answers by their schema, as JSON. One that is frozen is answered again: its bytes are made once, and kept as long as it is.
 */
export const serializerCompiler: FastifySerializerCompiler<unknown> = route => {
  const serialize = compile(route as Parameters<typeof compile>[0])
  const kept = new WeakMap<object, Buffer>()
  return answer => {
    if (!Object.isFrozen(answer)) return serialize(answer)
    const bytes = kept.get(answer) ?? Buffer.from(serialize(answer))
    kept.set(answer, bytes)
    // Fastify sends bytes as well as text, and its types do not say so.
    return bytes as unknown as string
  }
}
